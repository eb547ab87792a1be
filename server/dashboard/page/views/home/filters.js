import {h} from '../../dom.js';

const TYPING_MS = 300;
const STATES = ['queued', 'running', 'paused', 'completed', 'stopped', 'cancelled', 'failed'];
const KINDS = ['solver_comparison', 'transfer_learning', 'sequence_regression', 'sequence_classification', 'signal_classification'];
const SORTS = {'-created_at': 'Newest first', created_at: 'Oldest first', '-updated_at': 'Last changed', name: 'By name'};

function choice(name, label, options, query, change) {
  const select = h('select', {'aria-label': label, 'data-test': `filter-${name}`},
    options.map(([value, text]) => h('option', {value, selected: (query.get(name) ?? '') === value}, text)));
  select.addEventListener('change', () => change({[name]: select.value}));
  return select;
}

function searchField(query, change) {
  const field = h('input', {type: 'search', placeholder: 'Search jobs by name', 'aria-label': 'Search jobs by name', class: 'grow', 'data-test': 'search'});
  field.value = query.get('search') ?? '';
  let timer = null;
  field.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(() => change({search: field.value.trim()}), TYPING_MS);
  });
  return field;
}

/**
 * What narrows the list of jobs.
 * @param {URLSearchParams} query what is chosen
 * @param {function(Object)} change is told what is chosen anew
 */
export function filterBar(query, change) {
  const words = (text) => text.replaceAll('_', ' ');
  return h('div', {class: 'row filters', role: 'search'},
    searchField(query, change),
    choice('state', 'State', [['', 'Any state'], ...STATES.map((state) => [state, state])], query, change),
    choice('kind', 'Kind', [['', 'Any kind'], ...KINDS.map((kind) => [kind, words(kind)])], query, change),
    choice('archived', 'Archived', [['', 'Not archived'], ['true', 'Archived'], ['any', 'All']], query, change),
    choice('sort', 'Order', [['', SORTS['-created_at']], ...Object.entries(SORTS).slice(1)], query, change));
}
