/** Values inside a job document, by their way from its root. */

/** @returns {*} undefined when nothing is there */
export function at(document, path) {
  return path.reduce((value, key) => (value !== null && typeof value === 'object' ? value[key] : undefined), document);
}

/** @returns {Object} a copy with another value; undefined takes it out, with what it leaves empty around it */
export function put(document, [key, ...rest], value) {
  const copy = {...document};
  const next = rest.length ? put(document?.[key] ?? {}, rest, value) : value;
  const isEmpty = next === undefined || (rest.length > 0 && value === undefined && Object.keys(next).length === 0);
  if (isEmpty) {
    delete copy[key];
  } else {
    copy[key] = next;
  }
  return copy;
}

/** @returns {string} the JSON pointer of a way */
export function pointerOf(path) {
  return path.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

/** @returns {*} what a person wrote: JSON where it is JSON, else a text */
export function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** @returns {*[]} "0.1, 0.01" or "sgdm, adam" or a list in JSON */
export function parsedList(text) {
  const whole = parsed(text);
  if (Array.isArray(whole)) {
    return whole;
  }
  const inside = parsed(`[${text}]`);
  return Array.isArray(inside) ? inside : text.split(',').map((word) => word.trim()).filter(Boolean).map(parsed);
}

/** @returns {string} as parsedList reads it */
export function listText(values) {
  const isPlain = values.every((value) => typeof value !== 'object' && (typeof value !== 'string' || parsed(value) === value && !value.includes(',')));
  return isPlain ? values.join(', ') : JSON.stringify(values);
}
