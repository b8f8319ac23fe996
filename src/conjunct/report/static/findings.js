(() => {
  const list = byId("found");
  if (!list) return;
  const order = byId("order");
  const more = byId("more");
  const items = all(":scope > li", list);
  const places = new Map(items.map((item) => [item, item.dataset.order.split(",").map(Number)]));
  let isWhole = false;

  function show() {
    const by = order ? Number(order.value) : 0;
    const last = isWhole || !more ? Infinity : Number(more.dataset.first);
    const place = (item) => places.get(item)[by];
    // those that are not among the first in this order are hidden, and stay behind
    const rank = (item) => (place(item) < 0 ? Infinity : place(item));
    for (const item of items) item.hidden = rank(item) >= last || rank(item) === Infinity;
    list.append(...items.slice().sort((a, b) => (rank(a) < rank(b) ? -1 : rank(a) > rank(b) ? 1 : 0)));
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
})();
