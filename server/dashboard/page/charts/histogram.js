/** How often errors of each size occur. */

import {svg} from '../dom.js';
import {count, number} from '../format.js';
import {axes, responsive} from './axes.js';

const HEIGHT = 220;

/**
 * @param {{low: ?number, high: ?number, counts: number[], not_finite: number}} errors equal bins
 * @param {{xLabel: string, yLabel: string}} options
 * @returns {HTMLElement}
 */
export function histogram({low, high, counts, not_finite: notFinite}, {xLabel, yLabel}) {
  const isFlat = low === null || low === high;
  const [from, to] = isFlat ? [(low ?? 0) - 0.5, (high ?? 0) + 0.5] : [low, high];
  const bins = isFlat ? [counts[0]] : counts;
  const step = (to - from) / bins.length;
  const most = Math.max(1, ...bins);
  const words = `Histogram of ${count(bins.reduce((a, b) => a + b, 0))} errors from ${number(low)} to ${number(high)}; ${count(notFinite)} not finite`;
  return responsive((width) => {
    const {grid, x, y, plot} = axes({width, height: HEIGHT, x: [from, to], y: [0, most * 1.05], xLabel, yLabel});
    const bars = bins.map((n, i) => svg('rect', {
      x: x(from + i * step) + 0.5, width: Math.max(1, x(from + (i + 1) * step) - x(from + i * step) - 1), y: y(n), height: plot.bottom - y(n),
    }, svg('title', {}, `${number(from + i * step)} to ${number(from + (i + 1) * step)}: ${count(n)}`)));
    const zero = from < 0 && to > 0 ? svg('line', {class: 'equal', x1: x(0), x2: x(0), y1: plot.top, y2: plot.bottom}) : null;
    return svg('svg', {width, height: HEIGHT, role: 'img', 'aria-label': words}, grid, svg('g', {class: 'bars'}, bars), zero);
  }, {'data-test': 'histogram'});
}
