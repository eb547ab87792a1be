/**
 * A container whose children stand for rows, one each. Children whose row is what it was stay as they
 * are, with their focus and selection; others are built anew in their place.
 * @param {HTMLElement} container
 * @param {function(Object): string} keyOf
 * @param {function(Object): HTMLElement} build
 * @returns {function(Object[])} shows these rows, in this order
 */
export function keyed(container, keyOf, build) {
  let shown = new Map(); // key -> {text, element}
  return (rows) => {
    const next = new Map();
    for (const row of rows) {
      const key = keyOf(row);
      const text = JSON.stringify(row);
      const old = shown.get(key);
      next.set(key, old?.text === text ? old : {text, element: build(row)});
    }
    shown = next;
    arrange(container, [...next.values()].map(({element}) => element));
  };
}

/** Makes these the children of a container, moving only what is not in its place: a move costs the focus. */
export function arrange(container, elements) {
  const wanted = new Set(elements);
  for (const child of [...container.children]) {
    if (!wanted.has(child)) {
      child.remove();
    }
  }
  let at = container.firstElementChild;
  for (const element of elements) {
    if (element === at) {
      at = at.nextElementSibling;
    } else {
      container.insertBefore(element, at);
    }
  }
}
