import {h} from '../../dom.js';
import {count} from '../../format.js';

const SHOWN = 200;

/** A heading with how many, and what they are when it is opened. */
function section(title, total, test, body) {
  return total > 0 ? h('details', {class: 'card', 'data-test': test}, h('summary', {}, `${title} (${count(total)})`), body) : null;
}

function rest(list, total) {
  const left = Math.max(list.length, total) - Math.min(list.length, SHOWN);
  return left > 0 ? h('p', {class: 'muted small'}, `and ${count(left)} more`) : null;
}

function entries(list, total) {
  return [h('div', {class: 'table-box', tabindex: '0', role: 'region', 'aria-label': 'Entries'}, h('table', {},
    h('thead', {}, h('tr', {}, ['Entry', 'Reason', 'What was found'].map((text) => h('th', {scope: 'col'}, text)))),
    h('tbody', {}, list.slice(0, SHOWN).map(({name, reason, text}) => h('tr', {},
      h('td', {class: 'break'}, name), h('td', {class: 'nowrap'}, reason.replaceAll('_', ' ')), h('td', {class: 'break'}, text)))))),
  rest(list, total)];
}

/** Each group is one sample that stands several times. */
function groups(list, total) {
  return [h('ul', {class: 'stack groups'}, list.slice(0, SHOWN).map(({count: n, items}) => h('li', {class: 'break'},
    h('b', {}, `${count(n)} × `), items.map((item, i) => [i ? ', ' : '', item.name, h('span', {class: 'muted'}, ` (${item.part}${item.class ? `, ${item.class}` : ''})`)]),
    n > items.length ? ' …' : null))), rest(list, total)];
}

/**
 * What the check of a data set found.
 * @param {Object} report
 * @param {string} word what one sample is called
 * @returns {HTMLElement}
 */
export function findings({warnings = [], refused = [], ignored = [], duplicates = [], conflicting_labels: conflicts = [], counts = {}}, word) {
  return h('div', {class: 'stack', 'data-test': 'findings'},
    warnings.length ? h('ul', {class: 'issues'}, warnings.map(({code, text}) =>
      h('li', {class: 'issue is-warning', 'data-code': code}, h('b', {}, 'Warning'), `: ${text}`))) : null,
    section('Refused', counts.refused ?? refused.length, 'refused', entries(refused, counts.refused ?? 0)),
    section('Left out', counts.ignored ?? ignored.length, 'ignored', entries(ignored, counts.ignored ?? 0)),
    section(`The same ${word} in several classes`, conflicts.length, 'conflicts', groups(conflicts, conflicts.length)),
    section('Twins', duplicates.length, 'duplicates', groups(duplicates, duplicates.length)));
}
