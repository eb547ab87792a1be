import {h} from '../dom.js';
import {percent} from '../format.js';

/**
 * Shares of one as bars, the largest first.
 * @param {{name: string, share: number}[]} rows
 * @param {{most?: number, marked?: string, label: string}} options most: how many are shown; marked: the row that is
 *   the truth
 * @returns {HTMLElement}
 */
export function bars(rows, {most = 5, marked = null, label}) {
  const length = ({share}) => (Number.isFinite(Number(share)) ? Number(share) : 0); // a share may be "NaN"
  const sorted = [...rows].sort((a, b) => length(b) - length(a));
  const shown = sorted.slice(0, most);
  const truth = sorted.find(({name}) => name === marked);
  if (truth && !shown.includes(truth)) {
    shown.push(truth);
  }
  return h('ol', {class: 'bars', 'aria-label': label, 'data-test': 'bars'}, shown.map((row) => {
    const {name, share} = row;
    return h('li', {class: name === marked ? 'marked' : null, 'data-test': 'bar'},
      h('span', {class: 'bar-name', title: name}, name, name === marked ? h('span', {class: 'muted small'}, ' (true)') : null),
      h('span', {class: 'bar-track'}, h('span', {class: 'bar-fill', style: {width: `${Math.max(0.5, length(row) * 100)}%`}})),
      h('span', {class: 'bar-share'}, percent(share)));
  }));
}
