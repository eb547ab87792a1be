/**
 * Elements without markup in strings: whatever a person wrote becomes a text node, so nothing has to
 * be escaped and nothing can be forgotten.
 */

const SVG = 'http://www.w3.org/2000/svg';
const ADDRESSES = new Set(['href', 'src']);
const SCHEMES = new Set(['http:', 'https:', 'blob:']);
/** Set as properties too: the attribute alone is only what a form begins with. */
const LIVE = new Set(['value', 'checked', 'indeterminate', 'selected']);

/** An address that a person wrote may be a script; such a link leads nowhere. */
function isSafeAddress(text) {
  try {
    return SCHEMES.has(new URL(text, document.baseURI).protocol);
  } catch {
    return false;
  }
}

function setStyle(element, style) {
  for (const [name, value] of Object.entries(style)) {
    element.style.setProperty(name, value);
  }
}

function listen(element, listeners) {
  for (const [type, listener] of Object.entries(listeners)) {
    element.addEventListener(type, listener);
  }
}

function setAttribute(element, name, value) {
  if (name === 'on') {
    listen(element, value);
  } else if (name === 'style') {
    setStyle(element, value); // a style attribute would be inline style, which the policy refuses
  } else if (name.startsWith('on')) {
    throw new TypeError(`${name}: listeners go into {on: {}}`);
  } else if (value === null || value === undefined || value === false) {
    element.removeAttribute(name);
  } else if (!ADDRESSES.has(name) || isSafeAddress(String(value))) {
    element.setAttribute(name, value === true ? '' : String(value));
  }
  if (LIVE.has(name) && value !== undefined) {
    element[name] = value;
  }
}

function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) {
      element.append(child instanceof Node ? child : String(child));
    }
  }
  return element;
}

function build(element, attributes, children) {
  append(element, children); // before `value`, which a select takes only from options it has
  for (const [name, value] of Object.entries(attributes ?? {})) {
    setAttribute(element, name, value);
  }
  return element;
}

/**
 * An element of HTML.
 * @param {string} tag
 * @param {?Object} attributes strings; booleans for presence; `style: {property: value}`;
 *   `on: {click: listener}`
 * @param {...*} children nodes, texts, numbers, arrays of them; null, undefined and false are left out
 * @returns {HTMLElement}
 */
export function h(tag, attributes, ...children) {
  return build(document.createElement(tag), attributes, children);
}

/**
 * An element of SVG; otherwise as `h`.
 * @returns {SVGElement}
 */
export function svg(tag, attributes, ...children) {
  return build(document.createElementNS(SVG, tag), attributes, children);
}

/**
 * Gives a node other children.
 * @returns the node
 */
export function replace(node, ...children) {
  node.replaceChildren();
  return append(node, children);
}

/**
 * Sets attributes of an element that is there, as `h` does.
 * @returns the element
 */
export function set(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    setAttribute(element, name, value);
  }
  return element;
}
