/**
 * A folder as a tar archive, without reading it: a Blob is made of the files themselves, which the browser reads when it
 * sends them. Headers are those of POSIX ustar; a name that does not fit goes into an extended header.
 */

const BLOCK = 512;
const NAME_BYTES = 100;
const bytesOf = (text) => new TextEncoder().encode(text);

function padding(size) {
  return new Uint8Array((BLOCK - size % BLOCK) % BLOCK);
}

/** Octal digits with zeros in front, and the closing zero byte that the field has room for. */
function octal(value, size) {
  return `${value.toString(8).padStart(size - 1, '0')}\0`;
}

function header(name, size, type) {
  const block = new Uint8Array(BLOCK);
  const put = (offset, text) => block.set(typeof text === 'string' ? bytesOf(text) : text, offset);
  put(0, name.subarray(0, NAME_BYTES));
  put(100, octal(0o644, 8));
  put(108, octal(0, 8));
  put(116, octal(0, 8));
  put(124, octal(size, 12));
  put(136, octal(0, 12));
  put(148, '        '); // the sum counts its own field as blanks
  put(156, type);
  put(257, 'ustar\x0000');
  const sum = block.reduce((a, b) => a + b, 0);
  put(148, `${sum.toString(8).padStart(6, '0')}\0 `);
  return block;
}

/** "27 path=...\n": the number counts itself. */
function extended(name) {
  const rest = bytesOf(` path=${name}\n`).length;
  let size = rest + String(rest).length;
  size = rest + String(size).length;
  return bytesOf(`${size} path=${name}\n`);
}

function entry(name, file) {
  const bytes = bytesOf(name);
  const parts = [];
  if (bytes.length > NAME_BYTES || bytes.length !== name.length) {
    const record = extended(name);
    parts.push(header(bytesOf('path'), record.length, 'x'), record, padding(record.length));
  }
  parts.push(header(bytes, file.size, '0'), file, padding(file.size));
  return parts;
}

/**
 * @param {{name: string, file: Blob}[]} files names are paths with "/"
 * @returns {Blob}
 */
export function tar(files) {
  return new Blob([...files.flatMap(({name, file}) => entry(name, file)), new Uint8Array(2 * BLOCK)]);
}
