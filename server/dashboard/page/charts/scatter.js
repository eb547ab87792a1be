/** Predicted against true: points about the line on which they would be equal. */

import {svg} from '../dom.js';
import {count, number, plural} from '../format.js';
import {axes, finite, rangeOf, responsive} from './axes.js';

const RADIUS = 3;
const REACH = 14;
const LARGEST = 460;

function nearest(places, px, py) {
  let found = null;
  let least = REACH ** 2;
  for (const place of places) {
    const distance = (place.x - px) ** 2 + (place.y - py) ** 2;
    if (distance < least) {
      least = distance;
      found = place;
    }
  }
  return found;
}

/** The point under the pointer says what it is, and can be chosen. */
function follow(element, places, {label, onPick}) {
  const mark = svg('circle', {class: 'mark', r: RADIUS + 3, hidden: true});
  const tip = svg('text', {class: 'tip', y: 24});
  const at = (event) => {
    const box = element.getBoundingClientRect();
    return nearest(places, event.clientX - box.left, event.clientY - box.top);
  };
  element.addEventListener('pointermove', (event) => {
    const place = at(event);
    mark.toggleAttribute('hidden', !place);
    element.classList.toggle('can-pick', Boolean(place));
    tip.textContent = place ? label(place.i) : '';
    if (place) {
      mark.setAttribute('cx', place.x);
      mark.setAttribute('cy', place.y);
    }
  });
  element.addEventListener('click', (event) => {
    const place = at(event);
    place && onPick?.(place.i);
  });
  tip.setAttribute('x', 64);
  element.append(mark, tip);
}

/**
 * @param {{target: (number|string)[], predicted: (number|string)[]}} points as the API gives them
 * @param {{label: function(number): string, onPick?: function(number), total: number}} options
 *   label: what the i-th point is; total: how many there are, of which these are taken
 * @returns {HTMLElement}
 */
export function scatter(points, options) {
  const targets = points.target.map(finite);
  const predicted = points.predicted.map(finite);
  const range = rangeOf(targets, predicted);
  const words = `${count(targets.length)} of ${plural(options.total, 'step')}: predicted against true, from ${number(range[0])} to ${number(range[1])}`;
  return responsive((width) => {
    const height = Math.min(LARGEST, Math.max(260, width * 0.8));
    const {grid, x, y} = axes({width, height, x: range, y: range, xLabel: 'true', yLabel: 'predicted'});
    const places = targets.map((target, i) => ({i, x: x(target), y: y(predicted[i])}))
      .filter((place) => Number.isFinite(place.x) && Number.isFinite(place.y));
    const element = svg('svg', {width, height, role: 'img', 'aria-label': words}, grid,
      svg('line', {class: 'equal', x1: x(range[0]), y1: y(range[0]), x2: x(range[1]), y2: y(range[1])}),
      svg('g', {class: 'points'}, places.map((place) => svg('circle', {cx: place.x, cy: place.y, r: RADIUS}))));
    follow(element, places, options);
    return element;
  }, {'data-test': 'scatter'});
}
