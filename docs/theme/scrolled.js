// What scrolls sideways can be reached by keys, also in browsers that do not see to it themselves. Material adds wrappers
// of tables and buttons of code when it likes, and its buttons' <nav> would be a landmark without a name, once a block.
(() => {
  "use strict";
  const mark = () => {
    for (const one of document.querySelectorAll(".md-typeset__scrollwrap, .md-typeset p:has(> img, > a > img)")) {
      if (one.scrollWidth > one.clientWidth) one.tabIndex = 0;
      else one.removeAttribute("tabindex");
    }
    for (const one of document.querySelectorAll(".md-code__nav")) one.setAttribute("role", "presentation");
  };
  new MutationObserver(mark).observe(document.querySelector("article"), { childList: true, subtree: true });
  for (const moment of ["load", "resize"]) addEventListener(moment, mark);
  mark();
})();
