(() => {
  const list = byId("found");
  if (!list) return;
  const order = byId("order");
  const more = byId("more");
  const items = all(":scope > li", list);
  const places = new Map(items.map((item) => [item, item.dataset.order.split(",").map(Number)]));
  let isWhole = false;

  // a taller finding shows only the first lines of its texts, and a button for the rest
  const TALL = 230;
  const buttons = new Map();
  for (const item of items) {
    const button = made("button", "Show all", "unfold");
    const name = item.querySelector("h3").textContent;
    function unfold(isUnfolded) {
      item.classList.toggle("cut", !isUnfolded);
      button.textContent = isUnfolded ? "Show less" : "Show all";
      button.setAttribute("aria-expanded", String(isUnfolded));
      button.setAttribute("aria-label", button.textContent + " of " + name);
    }
    button.type = "button";
    unfold(false);
    button.addEventListener("click", () => unfold(item.classList.contains("cut")));
    item.addEventListener("focusin", (event) => {
      if (!button.hidden && event.target.matches("p a:focus-visible")) unfold(true);
    });
    item.querySelector(".chunk").append(button);
    buttons.set(item, button);
  }

  function fold() {
    const folded = items.filter((item) => buttons.get(item).getAttribute("aria-expanded") === "false");
    for (const item of folded) {
      item.classList.remove("cut");
      buttons.get(item).hidden = true;
    }
    const heights = folded.map((item) => item.offsetHeight);
    folded.forEach((item, k) => {
      item.classList.toggle("cut", heights[k] > TALL);
      buttons.get(item).hidden = heights[k] <= TALL;
    });
  }
  addEventListener("resize", fold);

  function show() {
    const by = order ? Number(order.value) : 0;
    const last = isWhole || !more ? Infinity : Number(more.dataset.first);
    const place = (item) => places.get(item)[by];
    // findings that are not among the first in this order are hidden at the end
    const rank = (item) => (place(item) < 0 ? Infinity : place(item));
    for (const item of items) item.hidden = rank(item) >= last || rank(item) === Infinity;
    list.append(...items.slice().sort((a, b) => (rank(a) < rank(b) ? -1 : rank(a) > rank(b) ? 1 : 0)));
    fold();
  }

  if (order) order.addEventListener("change", show);
  if (more) {
    const text = more.textContent;
    more.addEventListener("click", () => {
      isWhole = !isWhole;
      more.textContent = isWhole ? "Show fewer" : text;
      show();
    });
  }
  fold();
})();
