import {get, inquire, pages} from '../api.js';
import {h, replace} from '../dom.js';
import {dataFor, dataOfNetwork} from '../parts/data_kind.js';
import {draft, keepDraft} from '../parts/draft.js';
import {failure} from '../parts/failure.js';
import {jsonEditor} from '../parts/json_editor.js';
import {later} from '../parts/later.js';
import {networkBind} from '../parts/network_bind.js';
import {networkReport} from '../parts/network_report.js';
import {templateForm} from '../parts/template_form.js';

const EMPTY = {layers: [
  {name: 'input', kind: 'image_input'},
  {name: 'conv1', kind: 'convolution', filters: 16, kernel: 3},
  {name: 'relu1', kind: 'relu'},
  {name: 'fc', kind: 'fully_connected'},
  {name: 'softmax', kind: 'softmax'},
]};

/** The network that the editor begins with, in the form of a template. */
function ownTemplate() {
  const network = draft() ?? EMPTY;
  return {
    name: 'draft', title: 'Your own network', text: 'Kept in this tab of the browser until you submit it with a job.',
    parameters: [], takes: network.layers?.[0]?.kind === 'sequence_input' ? 'sequence' : 'image', description: network,
  };
}

/** The data sets that the network can be bound to, those that it is made for first. */
async function readyDatasets(template, signal) {
  const found = [];
  for (const kind of dataFor(template)) {
    for await (const row of pages(`/v1/datasets?state=ready&kind=${kind}&fields=id,name,kind,image&limit=200`, {signal})) {
      found.push(row);
    }
  }
  return found;
}

/** A data set of what the network is made for, with pictures of the size that it takes unless told otherwise. */
function fitting(template, datasets) {
  const size = template.parameters.find(({name}) => name === 'size')?.default;
  return datasets.find(({kind, image}) => kind === dataOfNetwork(template) && (!size || image?.height === size))?.id;
}

/** The parts of the view and what flows between them: parameters or text in, analysis out. */
function build(template, datasets, scope) {
  const isOwn = template.name === 'draft';
  const shown = h('div', {'data-test': 'analysis'});
  let network = isOwn ? template.description : {name: template.name};
  let report = null;
  const analyse = later(async (signal) => {
    try {
      const next = await inquire('/v1/networks/analyze', {network, ...bind.body()}, {signal});
      report ? report.update(next) : replace(shown, report = networkReport(next));
      if (network.name && !network.layers && next.description) {
        editor.show(next.description);
      }
    } catch (error) {
      report = null;
      signal.aborted || replace(shown, failure(error));
    }
  }, 250, scope.signal);
  const use = (next) => {
    network = next;
    isOwn && keepDraft(next);
    analyse();
  };
  const bind = networkBind(template, datasets, scope.query.get('dataset') ?? fitting(template, datasets), () => {
    scope.setQuery({dataset: bind.chosen()});
    analyse();
  });
  const editor = jsonEditor(use);
  isOwn && editor.show(network);
  const form = templateForm(template.parameters, {}, (values) => use({name: template.name, ...values}));
  analyse();
  return {form, bind, editor, shown, network: () => network};
}

function submitButton(built) {
  return h('button', {
    type: 'button', class: 'primary', 'data-test': 'network-use', on: {click: () => {
      keepDraft(built.network());
      const dataset = built.bind.chosen();
      location.hash = `#/submit?network=draft${dataset ? `&dataset=${dataset}` : ''}`;
    }},
  }, 'Use in a new job');
}

function head(template, built) {
  return [
    h('p', {class: 'crumbs'}, h('a', {href: '#/networks'}, 'Networks'), h('span', {}, template.name)),
    h('div', {class: 'row between'}, h('h1', {}, template.title ?? template.name), submitButton(built)),
    h('p', {class: 'muted'}, template.text),
  ];
}

/** One network: its parameters, its description to edit, and what the service says of both. */
export function view([name], scope) {
  const {signal, title} = scope;
  const element = h('section', {class: 'view'});
  const fill = async () => {
    const template = name === 'draft' ? ownTemplate() : await get(`/v1/networks/${encodeURIComponent(name)}`, {signal});
    const datasets = await readyDatasets(template, signal);
    title(template.title ?? template.name);
    const built = build(template, datasets, scope);
    const edit = h('details', {class: 'card', open: name === 'draft', 'data-test': 'network-edit'},
      h('summary', {}, 'Description as JSON'), built.editor);
    const parameters = template.parameters.length > 0 ? h('div', {class: 'card'}, h('h2', {}, 'Parameters'), built.form) : null;
    replace(element, head(template, built),
      h('div', {class: 'network-controls'}, h('div', {class: 'card'}, built.bind), parameters, edit), built.shown);
  };
  fill().catch((error) => signal.aborted || replace(element, failure(error)));
  return element;
}
