/** What small drawings with two axes share: scales, ticks, a frame, drawing anew at another width. */

import {h, replace, svg} from '../dom.js';
import {number} from '../format.js';

const LEFT = 52;
const BOTTOM = 40;
const TOP = 10;
const RIGHT = 12;

/** @returns {number[]} round numbers from low to high, about so many */
export function ticks(low, high, about = 5) {
  const raw = (high - low) / about;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((size) => size >= raw * 0.999);
  const first = Math.ceil(low / step - 1e-9);
  const found = [];
  for (let i = first; i * step <= high + step * 1e-9; i++) {
    found.push(Number((i * step).toPrecision(12)));
  }
  return found;
}

/** @returns {[number, number]} least and greatest of what is finite; [0, 1] of nothing, wider than nothing */
export function rangeOf(...lists) {
  let low = Infinity;
  let high = -Infinity;
  for (const list of lists) {
    for (const x of list) {
      if (Number.isFinite(x)) {
        low = Math.min(low, x);
        high = Math.max(high, x);
      }
    }
  }
  if (low > high) {
    return [0, 1];
  }
  const room = (high - low) * 0.04 || Math.abs(high) * 0.1 || 1;
  return [low - room, high + room];
}

function scale([low, high], from, to) {
  return (x) => from + (x - low) / (high - low) * (to - from);
}

/**
 * Axes with their names.
 * @param {{width: number, height: number, x: [number, number], y: [number, number], xLabel: string, yLabel: string}} what
 * @returns {{grid: SVGElement, x: function(number): number, y: function(number): number, plot: Object}}
 */
export function axes({width, height, x: xRange, y: yRange, xLabel, yLabel}) {
  const plot = {left: LEFT, top: TOP, right: width - RIGHT, bottom: height - BOTTOM};
  const x = scale(xRange, plot.left, plot.right);
  const y = scale(yRange, plot.bottom, plot.top);
  const across = ticks(...xRange, Math.max(2, Math.floor((plot.right - plot.left) / 80)));
  const up = ticks(...yRange, Math.max(2, Math.floor((plot.bottom - plot.top) / 48)));
  const grid = svg('g', {class: 'axes'},
    across.map((tick) => [svg('line', {class: 'grid', x1: x(tick), x2: x(tick), y1: plot.top, y2: plot.bottom}),
      svg('text', {x: x(tick), y: plot.bottom + 16, 'text-anchor': 'middle'}, number(tick))]),
    up.map((tick) => [svg('line', {class: 'grid', x1: plot.left, x2: plot.right, y1: y(tick), y2: y(tick)}),
      svg('text', {x: plot.left - 6, y: y(tick) + 4, 'text-anchor': 'end'}, number(tick))]),
    svg('text', {class: 'axis-name', x: (plot.left + plot.right) / 2, y: height - 6, 'text-anchor': 'middle'}, xLabel),
    svg('text', {
      class: 'axis-name', 'text-anchor': 'middle', transform: `translate(13 ${(plot.top + plot.bottom) / 2}) rotate(-90)`,
    }, yLabel));
  return {grid, x, y, plot};
}

/**
 * A drawing that is made anew when its width changes.
 * @param {function(number): Element} draw makes the drawing for a width in pixels
 * @param {Object} attributes of the element around it
 * @returns {HTMLElement} with `redraw()`
 */
export function responsive(draw, attributes) {
  const element = h('div', {class: 'chart', ...attributes});
  let width = 0;
  const redraw = () => {
    if (width > 0) {
      replace(element, draw(width));
    }
  };
  new ResizeObserver(([{contentRect}]) => {
    if (Math.round(contentRect.width) !== width) {
      width = Math.round(contentRect.width);
      redraw();
    }
  }).observe(element);
  return Object.assign(element, {redraw});
}

/** @returns {number} as the API writes numbers: a name is one that is not finite */
export function finite(x) {
  return typeof x === 'number' ? x : NaN;
}
