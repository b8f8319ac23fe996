(() => {
  const plane = report.plane;
  if (!plane) return;
  const views = all(".view");
  const tip = byId("tip");
  const onFront = all(".mark.front, .mark.closest", views[0])
    .map((mark) => Number(mark.dataset.k))
    .sort((a, b) => a - b);
  let chosen = -1;

  function choose(k) {
    chosen = k;
    const mark = plane.marks[k];
    byId("chosen-name").textContent = mark.name;
    byId("chosen-note").textContent = mark.note;
    byId("chosen-summary").textContent = mark.summary;
    const list = document.createDocumentFragment();
    for (const [text, support] of mark.features) {
      const item = made("li");
      const count = made("span", support.toLocaleString("en"), "soft number");
      item.append(named("span", plane.texts[text]), " ", count);
      list.append(item);
    }
    byId("chosen-features").replaceChildren(list);
    byId("chosen-features").scrollTop = 0;
    for (const drawn of all(".view .mark")) {
      const isChosen = Number(drawn.dataset.k) === k;
      drawn.classList.toggle("selected", isChosen);
      drawn.setAttribute("aria-pressed", String(isChosen));
      drawn.setAttribute("tabindex", isChosen ? "0" : "-1");
      if (isChosen) drawn.parentNode.append(drawn); // on top of the others
    }
  }

  // each range of λ belongs to one solution
  const slider = byId("lambda");
  function said() {
    const [low, high] = plane.slide[Number(slider.value)];
    byId("lambda-said").textContent = low + " ≤ λ < " + high;
    slider.setAttribute("aria-valuetext", byId("lambda-said").textContent);
  }
  if (slider) {
    const first = plane.slide.findIndex(([, , mark]) => mark === plane.chosen);
    slider.value = String(Math.max(0, first));
    said();
    slider.addEventListener("input", () => {
      said();
      choose(plane.slide[Number(slider.value)][2]);
    });
  }

  function show(text, x, y, view) {
    const box = view.parentNode.getBoundingClientRect();
    tip.textContent = text;
    tip.hidden = false;
    const left = Math.min(x - box.left + 12, box.width - tip.offsetWidth - 4);
    tip.style.left = Math.max(0, left) + "px";
    tip.style.top = y - box.top + 16 + "px";
  }

  // the nearest point within the reach of a finger or a pointer
  function nearest(view, event) {
    const matrix = view.firstElementChild.getScreenCTM();
    if (!matrix) return null;
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix.inverse());
    const reach = event.pointerType === "touch" ? 22 : 11;
    let best = null;
    let least = reach * reach;
    for (const point of placesOf(view)) {
      const distance = (point.x - at.x) ** 2 + (point.y - at.y) ** 2 - (point.mark ? 12 : 0);
      if (distance < least) {
        least = distance;
        best = point;
      }
    }
    return best;
  }

  // the places of the points in a view
  const places = new Map();
  function placesOf(view) {
    if (!places.has(view)) {
      places.set(
        view,
        all(".solution, .mark", view).map((drawn) => {
          const { x, y, width, height } = drawn.getBBox();
          const mark = drawn.classList.contains("mark");
          return { mark, k: Number(drawn.dataset.k), x: x + width / 2, y: y + height / 2 };
        }),
      );
    }
    return places.get(view);
  }

  function described(point) {
    if (point.mark) {
      const mark = plane.marks[point.k];
      return mark.name + ": " + mark.summary;
    }
    const [name, n, length, oi, c0] = plane.solutions[point.k];
    return name + ": " + n + " features of " + length + " literals, OI " + oi + ", C0 " + c0;
  }

  for (const view of views) {
    view.addEventListener("pointermove", (event) => {
      const point = nearest(view, event);
      view.classList.toggle("pointing", Boolean(point && point.mark));
      if (point) show(described(point), event.clientX, event.clientY, view);
      else tip.hidden = true;
    });
    view.addEventListener("pointerleave", () => (tip.hidden = true));
    view.addEventListener("click", (event) => {
      const point = nearest(view, event);
      if (point && point.mark) choose(point.k);
    });
    view.addEventListener("keydown", (event) => {
      const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
      const step = steps[event.key];
      if (!step) return;
      event.preventDefault();
      const there = new Set(all(".mark", view).map((mark) => Number(mark.dataset.k)));
      const order = onFront.filter((k) => there.has(k));
      const now = order.indexOf(chosen);
      const next = now < 0 ? 0 : Math.min(order.length - 1, Math.max(0, now + step));
      if (order.length) choose(order[next]);
      const mark = view.querySelector(".mark.selected");
      if (mark) mark.focus();
    });
  }

  for (const radio of all('input[name="view"]')) {
    radio.addEventListener("change", () => {
      for (const view of views) view.toggleAttribute("hidden", view.dataset.view !== radio.value);
      tip.hidden = true;
    });
  }
  for (const button of all("button.pick")) {
    button.addEventListener("click", () => choose(Number(button.dataset.k)));
  }
  choose(plane.chosen);
})();
