import {h} from '../dom.js';
import {percent} from '../format.js';

/**
 * A bar with its share in words.
 * @param {?number} share of 1; null: nobody knows
 * @param {string} label what progresses, for readers of screens
 * @param {?string} text beside the bar; null: the share
 */
export function progress(share, label, text = null) {
  return h('div', {class: 'progress'},
    h('progress', {max: '1', value: share === null ? null : String(share), 'aria-label': label}),
    h('span', {class: 'muted small nowrap'}, text ?? percent(share)));
}
