// Switches between methods, filters and sorts. Without it the page shows everything, in the order of the p-values.
(() => {
  "use strict";
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const controls = document.getElementById("controls");
  const keys = (item) => item.dataset.s.split(" ").map((text) => (text === "nan" ? Infinity : Number(text)));
  const orders = {
    p: (item) => keys(item)[0],
    size: (item) => -Math.abs(keys(item)[5] === Infinity ? 0 : keys(item)[5]),
    raises: (item) => (keys(item)[5] === Infinity ? Infinity : -keys(item)[5]),
    lowers: (item) => keys(item)[5],
    u: (item) => -Math.abs(keys(item)[2] - 0.5),
  };
  const value = (name) => controls?.elements[name].value ?? "";
  const seen = (selector) => all(selector).filter((element) => !element.closest("[hidden]"));
  const plural = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

  function reorder(parent, children, order) {
    const ranked = children.map((child) => [order(child), child]);
    ranked.sort((a, b) => (a[0] === b[0] ? a[1].place - b[1].place : a[0] < b[0] ? -1 : 1));
    parent.append(...ranked.map((entry) => entry[1]));
  }

  function show() {
    const method = document.querySelector("[name=method]:checked")?.value;
    for (const element of all("[data-method]")) element.hidden = element.dataset.method !== method;
    if (!controls) return;
    for (const item of all("[data-s]:not(.miss)")) {
      const other = value("target") && item.dataset.t !== value("target");
      item.hidden = Boolean(other || (value("class") && !item.dataset.c.split(" ").includes(value("class"))));
    }
    for (const group of all(".group")) group.hidden = !group.querySelector(".card:not([hidden])");
    const rows = seen("tbody tr[data-s]").length;
    const total = all("tbody tr[data-s]").filter((row) => !row.closest("[data-method][hidden]")).length;
    const panels = seen(".card:not(.miss)").length;
    controls.querySelector("output").textContent =
      rows ? `${rows} of ${plural(total, "finding")}, ${panels} with a panel` : "no finding matches";
  }

  function sort() {
    const order = orders[value("sort")];
    const first = (group) => Math.min(...all(".card", group).map(order));
    for (const groups of all(".groups")) {
      for (const cards of all(".cards", groups)) reorder(cards, [...cards.children], order);
      reorder(groups, [...groups.children], first);
    }
  }

  function sortTable(head) {
    const table = head.closest("table");
    const down = head.getAttribute("aria-sort") === "ascending";
    for (const other of all("[aria-sort]", table)) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const column = head.cellIndex, key = head.dataset.key, body = table.tBodies[0];
    const compare = new Intl.Collator("en", { numeric: true }).compare;
    const rows = [...body.rows].map((row) => [key ? keys(row)[key] : row.cells[column].textContent, row]);
    rows.sort((a, b) => (key ? a[0] - b[0] || 0 : compare(a[0], b[0])) * (down ? -1 : 1));
    body.append(...rows.map((entry) => entry[1]));
  }

  function visit() {
    const item = location.hash && document.getElementById(location.hash.slice(1));
    if (!item || !item.closest("[hidden]")) return;
    const section = item.closest("[data-method]");
    if (section) document.querySelector(`[name=method][value="${section.dataset.method}"]`).checked = true;
    controls?.reset();
    show();
    item.scrollIntoView();
  }

  document.documentElement.classList.add("js");
  all(".group, .card").forEach((element, place) => { element.place = place; });
  for (const element of all(".switch, #controls")) element.hidden = false;
  for (const input of all("[name=method]")) input.addEventListener("change", show);
  controls?.addEventListener("change", (event) => (event.target.name === "sort" ? sort() : show()));
  controls?.addEventListener("reset", () => setTimeout(() => { show(); sort(); }));
  controls?.addEventListener("submit", (event) => event.preventDefault());
  for (const head of all(".sortable thead th")) {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    button.addEventListener("click", () => sortTable(head));
    head.append(button);
  }
  addEventListener("hashchange", visit);
  show();
  visit();
})();
