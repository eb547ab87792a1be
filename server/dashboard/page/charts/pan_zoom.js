/** Moving about in a drawing: wheel, drag, two fingers, and calls for buttons and keys. */

const LEAST = 0.05;
const MOST = 3;

function twoFingers(points) {
  const [a, b] = [...points.values()];
  return {x: (a.x + b.x) / 2, y: (a.y + b.y) / 2, apart: Math.hypot(a.x - b.x, a.y - b.y)};
}

/** Fingers and mouse; a drag begins only after some pixels, so that a click remains one. */
function followPointers(element, view) {
  const points = new Map();
  let isDragged = false;
  const position = (event) => ({x: event.clientX, y: event.clientY});
  element.addEventListener('pointerdown', (event) => {
    points.set(event.pointerId, position(event));
    isDragged = false;
  });
  element.addEventListener('pointermove', (event) => {
    const last = points.get(event.pointerId);
    if (!last) {
      return;
    }
    const before = points.size === 2 ? twoFingers(points) : null;
    const now = position(event);
    if (!isDragged && points.size === 1 && Math.hypot(now.x - last.x, now.y - last.y) < 4) {
      return;
    }
    if (!isDragged) {
      isDragged = true;
      element.setPointerCapture(event.pointerId);
    }
    points.set(event.pointerId, now);
    if (before) {
      const after = twoFingers(points);
      view.panBy(after.x - before.x, after.y - before.y);
      view.zoomBy(after.apart / (before.apart || 1), after);
    } else if (points.size === 1) {
      view.panBy(now.x - last.x, now.y - last.y);
    }
  });
  for (const type of ['pointerup', 'pointercancel', 'lostpointercapture']) {
    element.addEventListener(type, (event) => points.delete(event.pointerId));
  }
  element.addEventListener('click', (event) => {
    if (isDragged) {
      event.stopPropagation();
      isDragged = false;
    }
  }, {capture: true});
}

/** Ctrl (and the pinch of a touch pad) zooms; else the drawing scrolls, and at its end the page. */
function followWheel(element, view) {
  element.addEventListener('wheel', (event) => {
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      view.zoomBy(Math.exp(-event.deltaY / 300), {x: event.clientX, y: event.clientY});
    } else if (view.panBy(-event.deltaX, -event.deltaY)) {
      event.preventDefault();
    }
  }, {passive: false});
}

/**
 * @param {SVGElement} element the window
 * @param {SVGElement} content what moves in it
 * @returns {{size: function(number, number), panBy: function(number, number): boolean,
 *   zoomBy: function(number, ?{x: number, y: number}), whole: function(), begin: function(),
 *   reveal: function({x: number, y: number, width: number, height: number})}}
 */
export function panZoom(element, content) {
  const at = {x: 0, y: 0, scale: 1, width: 1, height: 1};
  const pane = () => element.getBoundingClientRect();
  const clamp = (offset, size, room) => (size <= room ? (room - size) / 2 : Math.min(0, Math.max(room - size, offset)));
  const draw = () => {
    const {width, height} = pane();
    at.x = clamp(at.x, at.width * at.scale, width);
    at.y = Math.min(0, Math.max(Math.min(0, height - at.height * at.scale), at.y));
    const isWhole = at.width * at.scale <= width && at.height * at.scale <= height;
    element.style.touchAction = isWhole ? 'auto' : 'none'; // else a finger on it could not scroll the page
    content.setAttribute('transform', `translate(${at.x} ${at.y}) scale(${at.scale})`);
  };
  const view = {
    size(width, height) {
      Object.assign(at, {width, height});
      draw();
    },
    panBy(dx, dy) {
      const before = `${at.x} ${at.y}`;
      at.x += dx;
      at.y += dy;
      draw();
      return before !== `${at.x} ${at.y}`;
    },
    zoomBy(factor, point) {
      const box = pane();
      const [px, py] = point ? [point.x - box.left, point.y - box.top] : [box.width / 2, box.height / 2];
      const scale = Math.min(MOST, Math.max(LEAST, at.scale * factor));
      at.x = px - (px - at.x) * scale / at.scale;
      at.y = py - (py - at.y) * scale / at.scale;
      at.scale = scale;
      draw();
    },
    whole() {
      const {width, height} = pane();
      Object.assign(at, {scale: Math.min(1, width / at.width, height / at.height), x: 0, y: 0});
      draw();
    },
    begin() {
      Object.assign(at, {scale: Math.min(1, Math.max(0.5, pane().width / at.width)), x: 0, y: 0});
      draw();
    },
    reveal({x, y, width, height}) {
      const room = pane();
      const nudge = (low, high, size) => (low < 16 ? 16 - low : high > size - 16 ? size - 16 - high : 0);
      const [left, top] = [at.x + x * at.scale, at.y + y * at.scale];
      view.panBy(nudge(left, left + width * at.scale, room.width), nudge(top, top + height * at.scale, room.height));
    },
  };
  followPointers(element, view);
  followWheel(element, view);
  return view;
}
