/** What surrounds every view: navigation, the theme switch, the sign-in box, word of a lost server. */

import {connection, setToken, token} from './connection.js';
import {h, replace, set} from './dom.js';

const SECTIONS = [
  {name: 'home', label: 'Experiments', href: '#/'},
  {name: 'datasets', label: 'Data', href: '#/datasets'},
  {name: 'networks', label: 'Networks', href: '#/networks'},
  {name: 'weights', label: 'Weights', href: '#/weights'},
];
const THEMES = ['system', 'light', 'dark'];
const SIGNS = {system: '◐', light: '☀', dark: '☾'};

function navigation() {
  const links = SECTIONS.map(({name, label, href}) => h('a', {href, 'data-section': name, 'data-test': `nav-${name}`}, label));
  return h('nav', {'aria-label': 'Sections'}, links);
}

/* -------------------------------------------------------------------------------------- theme */

function themeSwitch() {
  const button = h('button', {class: 'quiet', type: 'button', 'data-test': 'theme'});
  const show = () => {
    const {choice} = document.documentElement.dataset;
    replace(button, SIGNS[choice]);
    set(button, {'aria-label': `Colours: ${choice}`, title: `Colours: ${choice}`});
  };
  button.addEventListener('click', () => {
    const next = THEMES[(THEMES.indexOf(document.documentElement.dataset.choice) + 1) % THEMES.length];
    document.dispatchEvent(new CustomEvent('themechoice', {detail: next}));
    show();
  });
  show();
  return button;
}

/* ------------------------------------------------------------------------------------ sign in */

function signInBox() {
  const reason = h('p', {class: 'muted', id: 'signin-reason'});
  const input = h('input', {
    type: 'password', id: 'signin-token', autocomplete: 'off', spellcheck: 'false', required: true, 'data-test': 'token',
  });
  const form = h('form', {},
    h('h2', {id: 'signin-title'}, 'Sign in'), reason,
    h('label', {for: 'signin-token'}, 'Access token'), input,
    h('p', {class: 'muted small'}, 'It is made by ', h('code', {}, 'assayd token create'), ' and kept for this tab alone.'),
    h('div', {class: 'row end'}, h('button', {class: 'primary', type: 'submit', 'data-test': 'signin'}, 'Sign in')));
  const dialog = h('dialog', {'aria-labelledby': 'signin-title', 'aria-describedby': 'signin-reason', 'data-test': 'signin-box'}, form);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    dialog.close();
    setToken(input.value.trim());
    input.value = '';
  });
  dialog.addEventListener('cancel', (event) => event.preventDefault()); // without a token there is nothing to see
  connection.addEventListener('signin', ({detail}) => {
    replace(reason, token() ? `That token was refused: ${detail}` : 'This server asks who you are.');
    dialog.showModal();
    input.focus();
  });
  return dialog;
}

function signOutButton() {
  const button = h('button', {class: 'quiet', type: 'button', hidden: !token(), 'data-test': 'signout'}, 'Sign out');
  button.addEventListener('click', () => {
    setToken(null);
    location.reload();
  });
  connection.addEventListener('signin', () => { button.hidden = false; });
  return button;
}

/* -------------------------------------------------------------------------------- lost server */

function banner() {
  const bar = h('div', {class: 'banner', role: 'status', hidden: true, 'data-test': 'banner'});
  let timer = null;
  const show = (kind, text) => {
    clearTimeout(timer);
    bar.className = `banner ${kind}`;
    bar.hidden = false;
    replace(bar, text);
  };
  connection.addEventListener('away', ({detail}) => show('bad', `${detail} Trying again; what you see may be old.`));
  connection.addEventListener('back', () => {
    show('good', 'The server is back.');
    timer = setTimeout(() => { bar.hidden = true; }, 3000);
  });
  return bar;
}

/* ------------------------------------------------------------------------------------- frame */

/**
 * Draws the frame into the body.
 * @returns {{main: HTMLElement, mark: function(?string)}} where a view goes; mark tells the section
 *   that is shown
 */
export function frame() {
  const links = navigation();
  const main = h('main', {id: 'main', tabindex: '-1'});
  const skip = h('a', {class: 'skip', href: '#main'}, 'Skip to the content');
  skip.addEventListener('click', (event) => {
    event.preventDefault(); // the address behind # is the router's
    main.focus();
  });
  replace(document.body, skip,
    h('header', {class: 'top'},
      h('a', {class: 'brand', href: '#/', 'data-test': 'brand'}, h('img', {src: 'page/icon.svg', alt: '', width: '22', height: '22'}), 'Assay'),
      links,
      h('div', {class: 'row tools'}, signOutButton(), themeSwitch(),
        h('a', {class: 'button primary', href: '#/submit', 'data-section': 'submit', 'data-test': 'nav-submit'}, 'New job'))),
    banner(), main, signInBox());
  const mark = (section) => {
    for (const link of document.querySelectorAll('[data-section]')) {
      if (link.dataset.section === section) {
        link.setAttribute('aria-current', 'page');
      } else {
        link.removeAttribute('aria-current');
      }
    }
  };
  return {main, mark};
}
