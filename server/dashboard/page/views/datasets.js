import {poll} from '../api.js';
import {h, replace} from '../dom.js';
import {count, percent, plural} from '../format.js';
import {badge} from '../parts/badge.js';
import {datasetForm} from '../parts/dataset_form.js';
import {failure} from '../parts/failure.js';
import {later} from '../parts/later.js';
import {when} from '../parts/when.js';

const FIELDS = 'id,name,kind,state,image,sequence,signal,class_count,counts,error,progress,created_at';
const HEADINGS = [['Name', ''], ['State', ''], ['What', ''], ['Train', 'numeric'], ['Validation', 'numeric'], ['Test', 'numeric'], ['Made', '']];

function what({kind, image, sequence, signal, class_count: classes, error}) {
  if (error) {
    return error;
  }
  if (image) {
    return `${plural(classes, 'class', 'classes')}, ${image.height} × ${image.width} × ${image.channels}`;
  }
  if (signal) {
    return `${plural(classes, 'class', 'classes')}, windows of ${plural(signal.window, 'sample')}, ${plural(signal.channels, 'channel')}`;
  }
  return sequence ? `${plural(sequence.inputs, 'input')}, up to ${plural(sequence.longest, 'step')}` : kind.replaceAll('_', ' ');
}

function row(one) {
  const counts = one.counts ?? {};
  return h('tr', {'data-test': 'dataset-row'},
    h('td', {class: 'break'}, h('a', {href: `#/datasets/${one.id}`}, one.name)),
    h('td', {}, badge(one.state), one.state === 'checking' ? ` ${percent(one.progress)}` : null),
    h('td', {class: 'break'}, what(one)),
    ['train', 'validation', 'test'].map((part) => h('td', {class: 'numeric'}, count(counts[part]))),
    h('td', {}, when(one.created_at)));
}

function list(scope) {
  const body = h('tbody', {'data-test': 'datasets-list'});
  const wrong = h('div', {});
  const more = h('p', {class: 'muted', hidden: true}, 'There are more; search for a name.');
  const query = () => {
    const text = scope.query.get('q');
    return `/v1/datasets?limit=200&fields=${FIELDS}${text ? `&search=${encodeURIComponent(text)}` : ''}`;
  };
  const show = ({items, next_cursor: next}) => {
    replace(wrong);
    more.hidden = !next;
    replace(body, items.length ? items.map(row)
      : h('tr', {}, h('td', {colspan: HEADINGS.length, class: 'empty'}, scope.query.get('q') ? 'No name fits.' : 'No data set yet. Make one above.')));
  };
  const search = later((signal) => poll(query(), show, {signal, onError: (error) => replace(wrong, failure(error))}), 250, scope.signal);
  search(0);
  return [search, wrong, h('div', {class: 'table-box', tabindex: '0', role: 'region', 'aria-label': 'Data sets'}, h('table', {},
    h('thead', {}, h('tr', {}, HEADINGS.map(([text, kind]) => h('th', {scope: 'col', class: kind}, text)))), body)), more];
}

/** Data sets: what there is, and a new one. */
export function view(_, scope) {
  scope.title('Data sets');
  const place = h('div', {hidden: true});
  const open = h('button', {type: 'button', class: 'primary', 'aria-expanded': 'false', 'data-test': 'dataset-new', on: {click: () => {
    place.hidden = !place.hidden;
    open.setAttribute('aria-expanded', String(!place.hidden));
    if (!place.firstChild) {
      place.append(datasetForm(scope.signal));
    }
  }}}, 'New data set');
  const [ask, ...table] = list(scope);
  const search = h('input', {type: 'search', placeholder: 'Search names', 'aria-label': 'Search names', 'data-test': 'dataset-search',
    value: scope.query.get('q') ?? '', on: {input: () => { scope.setQuery({q: search.value}); ask(); }}});
  return h('section', {class: 'view'}, h('div', {class: 'row between'}, h('h1', {}, 'Data sets'), h('div', {class: 'row'}, search, open)),
    place, table);
}
