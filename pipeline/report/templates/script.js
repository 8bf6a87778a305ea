// Switches between methods, filters, sorts, and keeps all that in the address; opens findings and images.
// Without it the page shows everything, in the order of the p-values.
(() => {
  "use strict";
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const make = (tag, text = "", attributes = {}) => {
    const element = document.createElement(tag);
    element.textContent = text;
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    return element;
  };
  const controls = document.getElementById("controls");
  const sprite = document.getElementById("sprite");
  const keys = (item) => item.dataset.s.split(" ").map((text) => (text === "nan" ? Infinity : Number(text)));
  const orders = {
    p: (item) => keys(item)[0],
    size: (item) => -Math.abs(keys(item)[5] === Infinity ? 0 : keys(item)[5]),
    raises: (item) => (keys(item)[5] === Infinity ? Infinity : -keys(item)[5]),
    lowers: (item) => keys(item)[5],
    u: (item) => -Math.abs(keys(item)[2] - 0.5),
  };
  const filters = ["class", "target", "image"];
  const value = (name) => controls?.elements[name].value ?? "";
  const given = (name) => (value(name) ? [String(value(name)).trim()] : []);
  // What is trained on may be asked for by number or by name; a name may be that of several.
  const numbersOf = (asked) => asked.flatMap((text) => {
    const named = all("#train-names option").filter((one) => one.value.toLowerCase() === text.toLowerCase());
    return named.length ? named.map((one) => one.dataset.number) : [text];
  });
  const seen = (selector) => all(selector).filter((element) => !element.closest("[hidden]"));
  const counted = (count) => count.toLocaleString("en");
  const plural = (count, noun) => `${counted(count)} ${noun}${count === 1 ? "" : "s"}`;
  const chosen = () => document.querySelector("[name=method]:checked");
  let rows = ""; // How the tables are sorted: the name of a column, after "-" if falling.

  function reorder(parent, children, order) {
    const ranked = children.map((child) => [order(child), child]);
    ranked.sort((a, b) => (a[0] === b[0] ? a[1].place - b[1].place : a[0] < b[0] ? -1 : 1));
    parent.append(...ranked.map((entry) => entry[1]));
  }

  function show() {
    const method = chosen()?.value;
    for (const element of all("[data-method]")) element.hidden = element.dataset.method !== method;
    if (!controls) return;
    const has = (item, key, wanted) => !wanted.length || item.dataset[key].split(" ").some((one) => wanted.includes(one));
    const asked = { target: given("target"), class: given("class"), image: numbersOf(given("image")) };
    for (const item of all("[data-s]:not(.miss)")) {
      item.hidden = !(has(item, "t", asked.target) && has(item, "c", asked.class) && has(item, "m", asked.image));
      if (item.opened) item.opened.hidden = item.hidden;
    }
    for (const group of all(".group")) group.hidden = !group.querySelector(".card:not([hidden])");
    const count = seen("tbody tr[data-s]").length;
    const total = all("tbody tr[data-s]").filter((row) => !row.closest("[data-method][hidden]")).length;
    const found = seen("[data-found]").reduce((sum, table) => sum + Number(table.dataset.found), 0);
    const panels = seen(".card:not(.miss)").length;
    document.getElementById("only-in-table").hidden = !count || panels > 0;
    controls.querySelector("output").textContent =
      found > total
        ? `${count ? counted(count) : "none"} of the first ${counted(total)} of ${plural(found, "finding")}, ${counted(panels)} with a panel`
        : count ? `${counted(count)} of ${plural(total, "finding")}, ${counted(panels)} with a panel` : "no finding matches";
  }

  function sort() {
    const order = orders[value("sort")];
    if (!order) return;
    const first = (group) => Math.min(...all(".card", group).map(order));
    for (const groups of all(".groups")) {
      for (const cards of all(".cards", groups)) reorder(cards, [...cards.children], order);
      reorder(groups, [...groups.children], first);
    }
  }

  function sortTables() {
    const name = rows.replace(/^-/, ""), way = rows.startsWith("-") ? -1 : 1;
    const compare = new Intl.Collator("en", { numeric: true }).compare;
    for (const table of all("table.sortable")) {
      const head = all("thead th", table).find((one) => one.dataset.name === name);
      for (const other of all("[aria-sort]", table)) other.removeAttribute("aria-sort");
      head?.setAttribute("aria-sort", way < 0 ? "descending" : "ascending");
      const column = head?.cellIndex ?? 0, key = head?.dataset.key, body = table.tBodies[0];
      const entries = [...body.rows].filter((row) => row.dataset.s).map((row) =>
        [key ? keys(row)[key] : row.cells[column].textContent, row]);
      entries.sort((a, b) => ((key ? a[0] - b[0] || 0 : compare(a[0], b[0])) || 0) * (head ? way : 1));
      body.append(...entries.flatMap(([, row]) => (row.opened ? [row, row.opened] : [row])));
    }
  }

  // The address: what is chosen, as #method=contrast&class=3&sort=size&rows=-effect; or a plain #contrast-12.
  function state() {
    const known = new URLSearchParams();
    const method = chosen();
    if (method && !method.defaultChecked) known.set("method", method.dataset.name);
    for (const name of filters) if (value(name)) known.set(name, value(name));
    if (controls && value("sort") !== "p") known.set("sort", value("sort"));
    if (rows) known.set("rows", rows);
    return known;
  }

  function write(at = "") {
    const known = state();
    if (at) known.set("at", at);
    if (`#${known}` !== (location.hash || "#")) history.pushState(null, "", `#${known}`);
  }

  function choose(name) {
    const inputs = all("[name=method]");
    const wanted = inputs.find((input) => input.dataset.name === name) ?? inputs.find((input) => input.defaultChecked);
    if (wanted) wanted.checked = true;
  }

  function read() {
    const text = location.hash.slice(1), notice = document.getElementById("not-listed");
    if (notice) notice.hidden = true;
    if (text && !text.includes("=")) return go(decodeURIComponent(text));
    const known = new URLSearchParams(text);
    choose(known.get("method"));
    for (const name of controls ? filters : []) {
      const field = controls.elements[name];
      field.value = known.get(name) ?? "";
      if (field.selectedIndex === -1) field.value = "";
    }
    if (controls) controls.elements.sort.value = Object.hasOwn(orders, known.get("sort")) ? known.get("sort") : "p";
    rows = known.get("rows") ?? "";
    show();
    sort();
    sortTables();
    if (known.get("at")) go(known.get("at"));
  }

  // The address of a finding that the page does not have: said in its place, with where it is.
  function missing(id) {
    const [, stem, number] = id.match(/^(.+)-([1-9]\d*)$/) ?? [];
    const table = all("[data-stem]").find((one) => one.dataset.stem === stem);
    if (!table) return null;
    const found = Number(table.dataset.found), notice = document.getElementById("not-listed");
    notice.hidden = false;
    if (Number(number) > found) {
      notice.textContent = `There is no finding ${id}: the last is ${stem}-${found}.`;
      return notice;
    }
    notice.textContent =
      `Finding ${id} is not on this page, whose table has the first ${counted(all("tbody tr[data-s]", table).length)} of ${plural(found, "finding")}. It is in findings.csv`;
    if (!notice.dataset.command) notice.append(".");
    else notice.append("; its picture: ", make("code", `${notice.dataset.command} ${id}`), ", with the options of the run.");
    return notice;
  }

  function go(id) {
    const item = document.getElementById(id) ?? missing(id);
    if (!item) return;
    if (item.closest("[hidden]")) {
      const section = item.closest("[data-method]");
      if (section) document.querySelector(`[name=method][value="${section.dataset.method}"]`).checked = true;
      show();
      if (item.closest("[hidden]")) for (const name of filters) controls.elements[name].value = "";
      show();
    }
    for (const other of all(".here")) other.classList.remove("here");
    item.classList.add("here");
    if (item.dataset.words && !item.opened) toggle(item);
    item.scrollIntoView();
    item.tabIndex = -1;
    item.focus({ preventScroll: true });
  }

  // A finding without a panel: its sentence, and its images if there are any, in a row of their own below it.
  function square(number, name) {
    const side = Number(sprite.dataset.side), columns = Number(sprite.dataset.columns);
    if (number === "-") return make("div", "not kept on the page", { class: "blank" });
    const canvas = make("canvas", "", { width: side, height: side, role: "img", "aria-label": name });
    const x = side * (number % columns), y = side * Math.floor(number / columns);
    const draw = () => canvas.getContext("2d").drawImage(sprite, x, y, side, side, 0, 0, side, side);
    if (sprite.complete) draw();
    else sprite.addEventListener("load", draw);
    return canvas;
  }

  function toggle(row) {
    const button = row.querySelector("th button");
    if (row.opened) {
      row.opened.remove();
      row.opened = null;
    } else {
      const heads = all("thead th", row.closest("table"));
      const cell = make("td", "", { colspan: row.cells.length });
      const list = make("div", "", { class: "opened" });
      (row.dataset.squares?.split(";") ?? []).forEach((numbers, k) => {
        const cell = row.cells[k + 1], role = heads[k + 1].textContent, who = cell.querySelector(".name").textContent;
        const name = `${who}, ${k ? "train" : "target"}${cell.textContent.slice(who.length)}`;
        const figure = make("figure"), images = make("div", "", { class: "squares" });
        images.append(...numbers.split(" ").map((number) => square(number, `${role}: ${name}`)));
        figure.append(make("span", role, { class: "role" }), images, make("figcaption", name));
        list.append(figure);
      });
      list.append(make("p", row.dataset.words, { class: "sentence" }));
      cell.append(list);
      row.opened = make("tr", "", { class: "opened-row" });
      row.opened.append(cell);
      row.after(row.opened);
    }
    button.setAttribute("aria-expanded", String(Boolean(row.opened)));
  }

  // A helper or hurter: what is known of it, and the findings that have it.
  const dialog = make("dialog", "", { "aria-labelledby": "who", class: "about" });
  function about(thumb) {
    const { image, who, role, target, theta, influence } = thumb.dataset;
    const own = all("tbody tr[data-m]").filter((row) =>
      !row.closest("[data-method][hidden]") && row.dataset.m.split(" ").includes(image));
    const here = own.filter((row) => row.dataset.t === target);
    const close = make("button", "Close", { type: "button", class: "close" });
    close.addEventListener("click", () => dialog.close());
    const facts = make("dl", "", { class: "facts" });
    const fact = (name, text) => {
      const line = make("div");
      line.append(make("dt", name), make("dd", text));
      facts.append(line);
    };
    fact(`weight θ̂ for target ${target}`, `${theta}, one of the strongest ${role}s`);
    if (influence) fact(`influence on target ${target}`, influence);
    const listed = all("[data-found]").some((one) => one.dataset.found > all("tbody tr[data-s]", one).length);
    fact(listed ? "in findings of the table" : "in findings",
      own.length ? `${counted(own.length)}, ${counted(here.length)} on this target` : "none");
    const face = thumb.querySelector(".pic, .blank").cloneNode(true);
    dialog.replaceChildren(make("h2", who, { id: "who" }), face, facts);
    if (own.length) {
      const list = make("ul");
      for (const row of [...here, ...own.filter((one) => !here.includes(one))].slice(0, 8)) {
        const line = make("li"), number = row.cells[0].textContent;
        const link = make("a", `Finding ${number}`, { href: `#${row.id || row.querySelector("th a").hash.slice(1)}` });
        link.addEventListener("click", () => dialog.close());
        line.append(link, ` on target ${row.dataset.t}, effect ${row.cells[9].textContent}`);
        list.append(line);
      }
      const only = make("button", own.length === 1 ? "Show only this finding" : `Show only these ${counted(own.length)} findings`,
        { type: "button" });
      only.addEventListener("click", () => {
        dialog.close();
        for (const name of filters) controls.elements[name].value = name === "image" ? image : "";
        show();
        write();
        document.getElementById("findings").scrollIntoView();
      });
      dialog.append(list, only);
    }
    dialog.append(close);
    dialog.showModal();
  }

  function buttonOf(element, action, attributes = {}) {
    const button = make("button", "", { type: "button", ...attributes });
    button.append(...element.childNodes);
    button.addEventListener("click", action);
    element.append(button);
    return button;
  }

  document.documentElement.classList.add("js");
  document.body.append(dialog);
  all(".group, .card").forEach((element, place) => { element.place = place; });
  for (const element of all(".switch, #controls, .js-note")) element.hidden = false;
  for (const input of all("[name=method]")) input.addEventListener("change", () => { show(); write(); });
  controls?.addEventListener("change", (event) => {
    if (event.target.name === "sort") sort();
    else show();
    write();
  });
  controls?.addEventListener("reset", () => setTimeout(() => { show(); sort(); write(); }));
  controls?.addEventListener("submit", (event) => event.preventDefault());
  for (const head of all(".sortable thead th")) {
    buttonOf(head, () => {
      rows = `${head.getAttribute("aria-sort") === "ascending" ? "-" : ""}${head.dataset.name}`;
      sortTables();
      write();
    });
  }
  for (const row of all("tr[data-words]")) {
    buttonOf(row.cells[0], () => toggle(row), { "aria-expanded": "false", class: "opener" });
  }
  for (const thumb of all(".strip li[data-image]")) {
    buttonOf(thumb, () => about(thumb), { "aria-haspopup": "dialog", class: "thumb" });
  }
  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#"]');
    if (!link || event.button || event.metaKey || event.ctrlKey || event.shiftKey) return;
    if (!wide.matches && link.closest(".toc")) toc.open = false;
    if (!String(state())) return; // The plain address says it all.
    event.preventDefault();
    const id = link.hash.slice(1);
    go(id);
    write(id);
  });

  // The contents: beside the page where there is room, else folded above it.
  const toc = document.querySelector(".toc details") ?? make("details");
  const wide = matchMedia("(min-width: 1200px)");
  const fold = () => { toc.open = wide.matches; };
  wide.addEventListener("change", fold);
  fold();
  const links = new Map(all(".toc a").map((link) => [document.getElementById(link.hash.slice(1)), link]));
  const current = new IntersectionObserver((entries) => {
    for (const entry of entries) entry.target.inView = entry.isIntersecting;
    const inside = [...links].filter(([section]) => section.inView).pop();
    if (!inside) return;
    for (const link of links.values()) link.removeAttribute("aria-current");
    inside[1].setAttribute("aria-current", "location");
  }, { rootMargin: "-12% 0px -76% 0px" });
  for (const section of links.keys()) current.observe(section);

  addEventListener("hashchange", read);
  show();
  read();
})();
