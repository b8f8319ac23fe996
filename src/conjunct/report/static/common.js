"use strict";
const report = JSON.parse(document.getElementById("report-data").textContent);
const byId = (id) => document.getElementById(id);
const all = (selector, within = document) => Array.from(within.querySelectorAll(selector));

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

(() => {
  const root = document.documentElement;
  byId("theme").addEventListener("click", () => {
    const dark = root.dataset.theme
      ? root.dataset.theme === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  });

  // in a notebook's frame, the address of a section would be one of the notebook
  for (const link of all('a[href^="#"]')) {
    link.addEventListener("click", (event) => {
      const section = byId(link.getAttribute("href").slice(1));
      if (!section) return;
      event.preventDefault();
      section.scrollIntoView();
      section.tabIndex = -1;
      section.focus({ preventScroll: true });
    });
  }

  for (const image of all("img[data-image]")) {
    image.src = report.images[Number(image.dataset.image)];
  }
})();
