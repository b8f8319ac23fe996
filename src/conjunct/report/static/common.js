"use strict";
const report = JSON.parse(document.getElementById("report-data").textContent);
const byId = (id) => document.getElementById(id);
const all = (selector, within = document) => Array.from(within.querySelectorAll(selector));
const written = (number) => number.toLocaleString("en");

function made(tag, text, className) {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  if (className) element.className = className;
  return element;
}

// names may be written from right to left
function named(tag, text, className) {
  const element = made(tag, text, className);
  element.dir = "auto";
  return element;
}

// marks of a drawing: arrow keys move between them, and Enter or space chooses one
function walk(marks, choose) {
  marks.forEach((mark, k) => {
    mark.addEventListener("click", () => choose(mark));
    mark.addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
      if (event.key === "Enter" || event.key === " ") choose(mark);
      else if (!step) return;
      event.preventDefault();
      if (!step) return;
      const next = marks[(k + step + marks.length) % marks.length];
      for (const one of marks) one.setAttribute("tabindex", one === next ? "0" : "-1");
      next.focus();
    });
  });
}

function goTo(target) {
  for (let fold = target.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  target.hidden = false;
  target.scrollIntoView({ block: target.matches("tr") ? "center" : "start" });
  for (const one of all(".target")) one.classList.remove("target");
  target.classList.add("target");
  target.tabIndex = -1;
  target.focus({ preventScroll: true });
}

(() => {
  const root = document.documentElement;
  byId("theme").addEventListener("click", () => {
    const dark = root.dataset.theme
      ? root.dataset.theme === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  });

  // on a phone, the notes take only one line before the findings
  if (byId("alerts")) byId("alerts").open = innerWidth > 640;

  // in the frame of a notebook, a link to a section would open the notebook
  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#"]');
    const target = link && byId(link.getAttribute("href").slice(1));
    if (!target) return;
    event.preventDefault();
    goTo(target);
  });
  const arrive = () => {
    const target = location.hash && byId(location.hash.slice(1));
    if (target) goTo(target);
  };
  addEventListener("hashchange", arrive);
  addEventListener("load", arrive);

  for (const image of all("img[data-image]")) {
    image.src = report.images[Number(image.dataset.image)];
  }
})();
