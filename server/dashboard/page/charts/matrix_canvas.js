import {h} from '../dom.js';
import {plural} from '../format.js';
import {cellWords} from './matrix.js';
import {matrixLegend} from './matrix_legend.js';
import {cellStrength} from './matrix_model.js';

const NAMES = {left: 132, top: 96}; // room for the names of classes
const SMALLEST = 0.4;
const SEEN = 2; // a cell is never drawn smaller: single mistakes among a thousand classes must be seen
const LARGEST = 28;
const NAMED = 11; // cells of this size have names beside them
const STEPS = {ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1]};

/** How much of a cell's ground its colour hides: the faintest is still seen. */
const cover = (strength) => 0.2 + 0.8 * strength;

function colourOf(series, strength) {
  return strength === 0 ? 'var(--surface)' : `color-mix(in srgb, ${series} ${100 * cover(strength)}%, var(--surface))`;
}

function colours(element) {
  const style = getComputedStyle(element);
  const of = (name) => style.getPropertyValue(name).trim();
  return {ground: of('--surface'), line: of('--line'), text: of('--text'), muted: of('--muted'),
    right: of('--series-1'), wrong: of('--series-2'), mark: of('--accent'), font: `11px ${style.fontFamily}`};
}

/** What is drawn: the part of the matrix that the box shows, however large the whole is. */
class Drawing {
  constructor(model, options) {
    Object.assign(this, {model, options, cursor: [0, 0], size: SMALLEST});
    this.canvas = h('canvas', {class: 'matrix-canvas', 'aria-hidden': 'true'});
    this.spacer = h('div', {class: 'matrix-spacer'}, this.canvas);
    this.box = h('div', {
      class: 'matrix-scroll', tabindex: 0, role: 'application', 'data-test': 'matrix',
      'aria-label': `Confusion matrix of ${plural(options.places.length, 'class', 'classes')}: arrows go from cell to cell, Enter shows the ${options.word}s`,
    }, this.spacer);
    this.place = new Map(options.places.map((k, i) => [k, i]));
    if (options.chosen && this.place.has(options.chosen[0]) && this.place.has(options.chosen[1])) {
      this.cursor = options.chosen.map((k) => this.place.get(k));
    }
  }

  get names() {
    return this.size >= NAMED ? NAMES : {left: 0, top: 0};
  }

  /** The cell at a point of the box; null beside the matrix. */
  cellAt(x, y) {
    const n = this.options.places.length;
    const column = Math.floor((x - this.names.left + this.box.scrollLeft) / this.size);
    const row = Math.floor((y - this.names.top + this.box.scrollTop) / this.size);
    const inside = x >= this.names.left && y >= this.names.top && column < n && row < n;
    return inside ? [row, column] : null;
  }

  classesAt([row, column]) {
    return [this.options.places[row], this.options.places[column]];
  }

  zoom(size) {
    const n = this.options.places.length;
    const bounded = Math.min(LARGEST, Math.max(SMALLEST, size));
    this.size = bounded < 4 ? bounded : Math.round(bounded);
    this.spacer.style.width = `${this.names.left + n * this.size}px`;
    this.spacer.style.height = `${this.names.top + n * this.size}px`;
    this.box.style.height = `min(72vh, ${Math.ceil(this.names.top + n * this.size) + 20}px)`;
    this.show(this.cursor);
  }

  /** The largest whole size at which all of it is seen. */
  fit() {
    const n = this.options.places.length;
    const room = Math.min(this.box.clientWidth, this.box.clientHeight);
    const named = Math.floor((room - NAMES.left) / n);
    const plain = (room - 2) / n;
    this.zoom(named >= NAMED ? named : plain < 3 ? plain : Math.floor(plain));
  }

  /** Scrolls to a cell where it is out of sight. */
  show(cell) {
    this.cursor = cell;
    const {left, top} = this.names;
    const into = (at, low, room) => (at < low ? at : at + this.size > low + room ? at + this.size - room : low);
    this.box.scrollLeft = into(cell[1] * this.size, this.box.scrollLeft, this.box.clientWidth - left);
    this.box.scrollTop = into(cell[0] * this.size, this.box.scrollTop, this.box.clientHeight - top);
    this.draw();
  }

  draw() {
    const width = this.box.clientWidth;
    const height = this.box.clientHeight;
    const ratio = window.devicePixelRatio || 1;
    if (width === 0) {
      return;
    }
    this.canvas.width = width * ratio;
    this.canvas.height = height * ratio;
    this.canvas.style.width = `${width}px`;
    this.canvas.style.height = `${height}px`;
    const pen = this.canvas.getContext('2d');
    pen.scale(ratio, ratio);
    const look = colours(this.box);
    this.drawCells(pen, look, width, height);
    this.drawNames(pen, look, width, height);
  }

  drawCells(pen, look, width, height) {
    const {shown} = this.options;
    const {left, top} = this.names;
    pen.fillStyle = look.ground;
    pen.fillRect(0, 0, width, height);
    const gap = this.size >= 6 ? 1 : 0;
    for (const [t, p] of this.model.cells) {
      const row = this.place.get(t);
      const column = this.place.get(p);
      const x = left + column * this.size - this.box.scrollLeft;
      const y = top + row * this.size - this.box.scrollTop;
      if (!(x > -this.size && y > -this.size && x < width && y < height)) {
        continue; // out of sight, or of a class that is left out
      }
      pen.globalAlpha = cover(cellStrength(this.model, shown, t, p));
      pen.fillStyle = t === p ? look.right : look.wrong;
      const side = Math.max(SEEN, this.size - gap);
      pen.fillRect(x, y, side, side);
    }
    pen.globalAlpha = 1;
    this.drawLines(pen, look);
  }

  /** The edge of the matrix, and where the cursor is. */
  drawLines(pen, look) {
    const {left, top} = this.names;
    const end = this.options.places.length * this.size;
    const side = Math.max(8, this.size + 2);
    const middle = (at, before) => before + (at + 0.5) * this.size - side / 2;
    pen.strokeStyle = look.line;
    pen.lineWidth = 1;
    pen.strokeRect(left - this.box.scrollLeft + 0.5, top - this.box.scrollTop + 0.5, end, end);
    pen.strokeStyle = look.mark;
    pen.lineWidth = 2;
    pen.strokeRect(middle(this.cursor[1], left - this.box.scrollLeft), middle(this.cursor[0], top - this.box.scrollTop), side, side);
  }

  drawNames(pen, look, width, height) {
    const {places} = this.options;
    const {left, top} = this.names;
    if (left === 0) {
      return;
    }
    pen.fillStyle = look.ground;
    pen.fillRect(0, 0, width, top);
    pen.fillRect(0, 0, left, height);
    pen.font = look.font;
    pen.textBaseline = 'middle';
    const draw = (k, x, y, marked, turned, room) => {
      pen.save();
      pen.beginPath();
      pen.rect(...(turned ? [left, 0, width, top] : [0, top, left, height]));
      pen.clip();
      pen.fillStyle = marked ? look.text : look.muted;
      pen.translate(x, y);
      pen.rotate(turned ? -Math.PI / 2 : 0);
      pen.fillText(this.model.classes[k], 0, 0, room);
      pen.restore();
    };
    places.forEach((k, i) => {
      const x = left + (i + 0.5) * this.size - this.box.scrollLeft;
      const y = top + (i + 0.5) * this.size - this.box.scrollTop;
      if (y > top - this.size && y < height + this.size) {
        draw(k, 6, y, i === this.cursor[0], false, left - 10);
      }
      if (x > left - this.size && x < width + this.size) {
        draw(k, x, top - 5, i === this.cursor[1], true, top - 10);
      }
    });
  }
}

function listen(drawing, say, onPick) {
  const {box} = drawing;
  const point = (event) => {
    const frame = box.getBoundingClientRect();
    return drawing.cellAt(event.clientX - frame.left, event.clientY - frame.top);
  };
  const choose = (cell) => {
    drawing.show(cell);
    onPick(...drawing.classesAt(cell));
  };
  box.addEventListener('scroll', () => drawing.draw());
  box.addEventListener('pointermove', (event) => {
    const cell = point(event);
    say(cell ?? drawing.cursor);
  });
  box.addEventListener('click', (event) => {
    const cell = point(event);
    return cell && choose(cell);
  });
  box.addEventListener('keydown', (event) => {
    const step = STEPS[event.key];
    const last = drawing.options.places.length - 1;
    if (step) {
      event.preventDefault();
      const by = event.shiftKey ? 10 : 1;
      const cell = drawing.cursor.map((at, i) => Math.min(last, Math.max(0, at + step[i] * by)));
      drawing.show(cell);
      say(cell);
    } else if (event.key === 'Enter') {
      choose(drawing.cursor);
    }
  });
}

/** Redraws with the size of the box and the colours of the page, as long as the box is there. */
function follow(drawing) {
  let began = false;
  const recolour = () => drawing.draw();
  const watch = new ResizeObserver(() => {
    if (!drawing.box.isConnected) {
      watch.disconnect();
      document.removeEventListener('themechange', recolour);
    } else if (began) {
      drawing.draw();
    } else {
      began = true;
      drawing.fit();
    }
  });
  watch.observe(drawing.box);
  document.addEventListener('themechange', recolour);
}

/** A matrix of many classes: a canvas over the part that is in sight, zoomed by buttons, walked by arrows. */
export function matrixCanvas(model, options) {
  const drawing = new Drawing(model, options);
  const words = h('p', {class: 'small muted matrix-words', 'aria-live': 'polite', 'data-test': 'matrix-words'});
  const say = (cell) => { words.textContent = cellWords(model, ...drawing.classesAt(cell)); };
  const button = (text, label, test, act) => h('button', {class: 'small', 'aria-label': label, 'data-test': test, on: {click: act}}, text);
  listen(drawing, say, options.onPick);
  follow(drawing);
  say(drawing.cursor);
  return h('div', {class: 'stack'},
    h('div', {class: 'row between'}, h('span', {class: 'small muted'}, `${plural(options.places.length, 'class', 'classes')}. Rows are true, columns predicted.`),
      h('div', {class: 'row'}, button('−', 'Smaller cells', 'zoom-out', () => drawing.zoom(drawing.size / 1.5)),
        button('+', 'Larger cells', 'zoom-in', () => drawing.zoom(drawing.size * 1.5)),
        button('All', 'See the whole matrix', 'zoom-fit', () => drawing.fit()))),
    matrixLegend(model, options.shown, colourOf), drawing.box, words);
}
