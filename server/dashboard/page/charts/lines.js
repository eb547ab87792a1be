/** Two or more lines over the same steps, with what they say under the pointer. */

import {h, replace, svg} from '../dom.js';
import {number} from '../format.js';
import {axes, finite, rangeOf, responsive} from './axes.js';

const HEIGHT = 300;

/** A gap where a value is not finite. */
function pathOf(steps, values, x, y) {
  let path = '';
  let isPen = false;
  values.forEach((value, i) => {
    const isThere = Number.isFinite(value);
    path += isThere ? `${isPen ? 'L' : 'M'}${x(steps[i]).toFixed(1)} ${y(value).toFixed(1)}` : '';
    isPen = isThere;
  });
  return path;
}

function legend(series) {
  return h('div', {class: 'row legend'}, series.map(({name}, i) => h('span', {class: `key series-${i + 1}`}, name)));
}

function follow(element, {x, plot}, steps, series, say) {
  const line = svg('line', {class: 'cross', y1: plot.top, y2: plot.bottom, hidden: true});
  element.append(line);
  element.addEventListener('pointermove', (event) => {
    const px = event.clientX - element.getBoundingClientRect().left;
    const share = (px - plot.left) / (plot.right - plot.left);
    const i = Math.min(steps.length - 1, Math.max(0, Math.round(share * (steps.length - 1))));
    line.removeAttribute('hidden');
    line.setAttribute('x1', x(steps[i]));
    line.setAttribute('x2', x(steps[i]));
    say(`step ${steps[i]}: ${series.map(({name, values}) => `${name} ${number(values[i])}`).join(', ')}`);
  });
}

/**
 * @param {{steps: number[], series: {name: string, values: (number|string)[]}[], mark?: number}} data mark: a
 *   step that is pointed out
 * @param {{xLabel: string, yLabel: string, label: string}} options label: for readers of screens
 * @returns {HTMLElement}
 */
export function lines({steps, series, mark}, {xLabel, yLabel, label}) {
  const values = series.map((one) => one.values.map(finite));
  const said = h('span', {class: 'small muted', 'aria-live': 'off'}, ' ');
  const chart = responsive((width) => {
    const ranges = {x: steps.length > 1 ? [steps[0], steps.at(-1)] : [steps[0] - 1, steps[0] + 1], y: rangeOf(...values)};
    const frame = axes({width, height: HEIGHT, ...ranges, xLabel, yLabel});
    const element = svg('svg', {width, height: HEIGHT, role: 'img', 'aria-label': label}, frame.grid,
      mark ? svg('line', {class: 'equal', x1: frame.x(mark), x2: frame.x(mark), y1: frame.plot.top, y2: frame.plot.bottom}) : null,
      values.map((list, i) => (steps.length > 1
        ? svg('path', {class: `line series-${i + 1}`, d: pathOf(steps, list, frame.x, frame.y)})
        : svg('circle', {class: `spot series-${i + 1}`, r: 4, cx: frame.x(steps[0]), cy: frame.y(list[0])}))));
    follow(element, frame, steps, series, (text) => replace(said, text));
    return element;
  }, {'data-test': 'sequence-chart'});
  return h('div', {class: 'stack'}, h('div', {class: 'row between'}, legend(series), said), chart);
}
