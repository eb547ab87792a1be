import {h} from '../dom.js';
import {ended} from '../format.js';

/**
 * Something that is wrong with a network, and how to mend it, as a line of a list.
 * @param {{severity: string, layer: ?string, pointer: string, text: string, mend: ?string}} issue
 * @param {?function(string)} onSelect the layer's name is a button for it
 */
export function issueRow({severity, layer, pointer, text, mend}, onSelect = null) {
  const name = layer && onSelect ? h('button', {type: 'button', class: 'link', on: {click: () => onSelect(layer)}}, layer) : layer;
  return h('li', {class: `issue is-${severity}`, 'data-test': 'issue'},
    h('b', {}, severity === 'error' ? 'Error' : 'Warning'), name ? [' in ', name] : null, `: ${ended(text)} `,
    mend ? h('span', {class: 'muted', 'data-test': 'mend'}, `Mend: ${mend}`) : null, ' ', h('code', {class: 'small'}, pointer));
}
