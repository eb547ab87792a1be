/** A new data set: where its files are, what they mean, and their way to the service. */

import {send} from '../api.js';
import {h, replace} from '../dom.js';
import {bytes, percent, plural} from '../format.js';
import {choice, field} from './field.js';
import {packed} from './folder.js';
import {markProblem} from './problem.js';
import {tableRoles} from './table_roles.js';
import {uploadFiles} from './upload_files.js';

const ACCEPTED = {archive: '.zip,.tar,.gz,.tgz', idx: '', table: '.csv,.tsv,.txt,.gz', cmapss: '.txt,.gz', signals: '.zip,.tar,.gz,.tgz'};
const SOURCES = [
  ['folder', 'Folder of photographs: a folder in it is a class'],
  ['archive', 'Archive of such a folder (zip, tar, tar.gz)'],
  ['table', 'Tables of sequences (CSV or blanks)'],
  ['cmapss', 'C-MAPSS turbofan files (train_, test_, RUL_)'],
  ['signals', 'Archive of recorded signals: a folder in it is a class'],
  ['idx', 'IDX files, as of MNIST'],
];

/** One source of files: its control, and what of the request it makes. */
function folderSource(control) {
  const folders = (list) => new Set([...list].map((file) => file.webkitRelativePath.split('/').slice(1, -1).join('/')).filter(Boolean));
  return {
    layout: 'archive',
    files: () => (control.files.length ? [packed(control.files)] : []),
    words: () => `${plural(control.files.length, 'file')} in ${plural(folders(control.files).size, 'folder')}`,
    title: () => control.files[0]?.webkitRelativePath.split('/')[0],
  };
}

function fileSource(layout, control) {
  return {
    layout,
    files: () => [...control.files].map((file) => ({name: file.name, content: file})),
    words: () => `${plural(control.files.length, 'file')}, ${bytes([...control.files].reduce((sum, {size}) => sum + size, 0))}`,
    title: () => control.files[0]?.name.replace(/\.[^.]*(\.gz)?$/, ''),
  };
}

function imageOptions() {
  const size = h('input', {type: 'number', min: 1, max: 8192, placeholder: 'the most frequent', 'data-pointer': '/image_size', 'data-test': 'dataset-size'});
  const refused = choice([['', 'leave it out and say so'], ['fail', 'refuse the whole set']], {'data-pointer': '/on_refused'});
  return {
    element: h('div', {class: 'form-grid'}, field('Side of the pictures', size, 'in pixels; all become this size'),
      field('What cannot be read', refused)),
    read: () => ({image_size: size.value ? size.valueAsNumber : undefined, on_refused: refused.value || undefined}),
  };
}

function classOptions() {
  const names = h('textarea', {rows: 3, placeholder: 'one a line, in the order of the labels 0, 1, ...', 'data-pointer': '/classes'});
  return {
    element: field('Names of the classes', names, 'may be left empty'),
    read: () => {
      const list = names.value.split('\n').map((name) => name.trim()).filter(Boolean);
      return {classes: list.length ? list : undefined};
    },
  };
}

/** How recordings are cut. */
function signalOptions() {
  const window = h('input', {type: 'number', min: 16, max: 1048576, placeholder: '2048', 'data-pointer': '/signal/window', 'data-test': 'dataset-window'});
  const stride = h('input', {type: 'number', min: 1, placeholder: 'a window', 'data-pointer': '/signal/stride'});
  const by = choice([['', 'whole recordings, or by folders of parts'], ['time', 'each recording is cut in the order of time']], {'data-pointer': '/signal/parts/by'});
  return {
    element: h('div', {class: 'form-grid'}, field('Length of a window', window, 'in samples'), field('From one window to the next', stride, 'in samples'),
      field('What trains, validates and tests', by)),
    read: () => ({signal: {
      window: window.value ? window.valueAsNumber : undefined, stride: stride.value ? stride.valueAsNumber : undefined,
      parts: by.value ? {by: by.value} : undefined,
    }}),
  };
}

const OPTIONS = {table: tableRoles, idx: classOptions, cmapss: () => NO_OPTIONS, signals: signalOptions};
const NO_OPTIONS = {element: null, read: () => ({})};

/** What belongs to one kind of source: its file control and its options. */
function panel(source, onFiles) {
  const isFolder = source === 'folder';
  const control = h('input', {type: 'file', multiple: true, accept: ACCEPTED[source] || null, webkitdirectory: isFolder, 'data-test': 'dataset-files', 'data-pointer': '/files'});
  const from = isFolder ? folderSource(control) : fileSource(source, control);
  const options = (OPTIONS[source] ?? imageOptions)();
  control.addEventListener('change', () => {
    options.files?.([...control.files]);
    onFiles(from);
  });
  const hint = isFolder ? 'Folders named train, validation and test, if there are, become the parts.' : null;
  return {from, options, element: h('div', {class: 'stack'}, field(isFolder ? 'Folder' : 'Files', control, hint), options.element)};
}

async function create(body, files, say, signal) {
  const made = await send('POST', '/v1/datasets', body, {signal});
  say(0);
  await uploadFiles(`/v1/datasets/${made.id}`, files, say, signal);
  return made.id;
}

/**
 * @param {AbortSignal} signal
 * @returns {HTMLElement}
 */
export function datasetForm(signal) {
  const name = h('input', {required: true, maxlength: 200, 'data-pointer': '/name', 'data-test': 'dataset-name'});
  const notes = h('input', {maxlength: 20000, 'data-pointer': '/notes'});
  const source = choice(SOURCES, {'data-test': 'dataset-source', on: {change: () => choose()}});
  const words = h('p', {class: 'muted small', 'data-test': 'dataset-words'});
  const bar = h('progress', {max: 1, value: 0, hidden: true, 'aria-label': 'Upload'});
  const said = h('div', {role: 'status', 'data-test': 'dataset-status'});
  const button = h('button', {type: 'submit', class: 'primary', 'data-test': 'dataset-create'}, 'Create and upload');
  const place = h('div', {});
  let shown = null;
  const choose = () => {
    shown = panel(source.value, (from) => {
      replace(words, from.words());
      name.value ||= from.title() ?? '';
    });
    replace(words);
    replace(place, shown.element);
  };
  const progress = (share) => {
    bar.hidden = false;
    bar.value = share;
    replace(said, `${percent(share)} uploaded. Stay on this page until all is there.`);
  };
  const submit = async () => {
    const files = shown.from.files();
    const body = {
      name: name.value.trim(), layout: shown.from.layout, notes: notes.value || undefined, ...shown.options.read(),
      files: files.map((file) => ({name: file.name, size: file.content.size})),
    };
    const id = await create(body, files, progress, signal);
    location.hash = `#/datasets/${id}`;
  };
  const form = h('form', {class: 'card', 'data-test': 'dataset-form', on: {submit: (event) => {
    event.preventDefault();
    button.disabled = true;
    replace(said);
    submit().catch((error) => signal.aborted || markProblem(form, said, error)).finally(() => { button.disabled = false; });
  }}}, h('h2', {}, 'New data set'), field('What it comes from', source), place, words,
  h('div', {class: 'form-grid'}, field('Name', name), field('Notes', notes)),
  h('div', {class: 'row'}, button, h('div', {class: 'grow stack'}, bar, said)));
  choose();
  return form;
}
