/** What YAML can say here. */
export type YamlValue = string | number | boolean | null | YamlValue[] | YamlMap
/** A mapping. */
export interface YamlMap {
  [key: string]: YamlValue
}

interface Line {
  readonly indent: number
  readonly text: string
  readonly number: number
}

interface Cursor {
  at: number
  readonly lines: readonly Line[]
  readonly anchors: Map<string, YamlValue>
}

const KEY = /^((?:"[^"]*"|'[^']*'|[^\s"'[{#&*!|>%@`,:-][^\s:]*|[\w.-][\w./-]*|<<)):(?:\s+(.*))?$/

/**
 * Reads the part of YAML that the files of this project are written in: blocks, flow collections on one line, quoted and
 * plain scalars, anchors, aliases and merge keys. Everything else is refused, so that a file that passes means the same
 * to every other reader.
 * @throws {SyntaxError} naming the line.
 */
export function readYaml(source: string): YamlValue {
  const lines = source.split('\n').flatMap((line, index): Line[] => {
    if (line.includes('\t')) throw new SyntaxError(`line ${index + 1}: a tab`)
    const text = withoutComment(line).trimEnd()
    const indent = text.length - text.trimStart().length
    return text.trim() === '' ? [] : [{ indent, text: text.trim(), number: index + 1 }]
  })
  const cursor: Cursor = { at: 0, lines, anchors: new Map() }
  const value = readBlock(cursor, 0)
  const rest = lines[cursor.at]
  if (rest !== undefined) throw new SyntaxError(`line ${rest.number}: indented as nothing before it`)
  return value
}

function withoutComment(line: string): string {
  let quote = ''
  for (let at = 0; at < line.length; at += 1) {
    const char = line[at] ?? ''
    if (quote !== '') {
      if (char === quote) quote = ''
    } else if (char === '"' || char === "'") {
      if (at === 0 || /[\s[{,]/.test(line[at - 1] ?? '')) quote = char
    } else if (char === '#' && (at === 0 || line[at - 1] === ' ')) return line.slice(0, at)
  }
  return line
}

function readBlock(cursor: Cursor, least: number): YamlValue {
  const first = cursor.lines[cursor.at]
  if (first === undefined || first.indent < least) return null
  return first.text === '-' || first.text.startsWith('- ')
    ? readList(cursor, first.indent)
    : readMap(cursor, first.indent)
}

function readList(cursor: Cursor, indent: number): YamlValue[] {
  const items: YamlValue[] = []
  for (let line = cursor.lines[cursor.at]; line?.indent === indent; line = cursor.lines[cursor.at]) {
    if (!line.text.startsWith('- ')) throw new SyntaxError(`line ${line.number}: expected "- "`)
    const text = line.text.slice(2).trimStart()
    if (KEY.test(text)) {
      // The first key of a mapping stands behind the dash: read on as if it stood below.
      const inner = indent + (line.text.length - text.length)
      ;(cursor.lines as Line[])[cursor.at] = { indent: inner, text, number: line.number }
      items.push(readMap(cursor, inner))
    } else {
      cursor.at += 1
      items.push(readFlow(text, line.number, cursor))
    }
  }
  return items
}

function readMap(cursor: Cursor, indent: number): YamlMap {
  const map: YamlMap = {}
  for (let line = cursor.lines[cursor.at]; line?.indent === indent; line = cursor.lines[cursor.at]) {
    const [, quotedKey = '', rest = ''] = KEY.exec(line.text) ?? []
    if (quotedKey === '') throw new SyntaxError(`line ${line.number}: expected "key: value"`)
    const key = quotedKey.replace(/^(["'])(.*)\1$/, '$2')
    cursor.at += 1
    const [, anchor, text = ''] = /^(?:&(\S+)\s*)?(.*)$/.exec(rest) ?? []
    const below = cursor.lines[cursor.at]
    const deeper =
      below !== undefined && (below.indent > indent || (below.indent === indent && below.text.startsWith('- ')))
    const value = text === '' ? (deeper ? readBlock(cursor, indent) : null) : readFlow(text, line.number, cursor)
    if (anchor !== undefined) cursor.anchors.set(anchor, value)
    if (key === '<<') Object.assign(map, { ...(value as YamlMap), ...map })
    else if (Object.hasOwn(map, key)) throw new SyntaxError(`line ${line.number}: ${key} twice`)
    else map[key] = value
  }
  return map
}

function readFlow(text: string, line: number, cursor: Cursor): YamlValue {
  const [value, end] = flowValue(text, 0, line, cursor)
  if (text.slice(end).trim() !== '') throw new SyntaxError(`line ${line}: ${text.slice(end)} is left over`)
  return value
}

function flowValue(text: string, start: number, line: number, cursor: Cursor, inside = false): [YamlValue, number] {
  const at = skipSpace(text, start)
  const char = text[at]
  if (char === '[') return flowList(text, at + 1, line, cursor)
  if (char === '{') return flowMap(text, at + 1, line, cursor)
  if (char === "'" || char === '"') {
    const end = text.indexOf(char, at + 1)
    if (end < 0 || text.slice(at, end).includes('\\')) throw new SyntaxError(`line ${line}: a quote or an escape`)
    return [text.slice(at + 1, end), end + 1]
  }
  if (char === undefined || '&!|>%@`'.includes(char))
    throw new SyntaxError(`line ${line}: ${char ?? 'nothing'} is not read`)
  const [plain = ''] = (inside ? /^(?:\$\{[^}]*\}|[^,\]}])*/ : /^.*/).exec(text.slice(at)) ?? []
  return [scalar(plain.trim(), line, cursor), at + plain.length]
}

function flowList(text: string, start: number, line: number, cursor: Cursor): [YamlValue, number] {
  const items: YamlValue[] = []
  for (let at = skipSpace(text, start); text[at] !== ']'; at = skipSpace(text, at)) {
    const [value, end] = flowValue(text, at, line, cursor, true)
    items.push(value)
    at = separator(text, end, ']', line)
    if (text[at] === ']') return [items, at + 1]
  }
  return [items, skipSpace(text, start) + 1]
}

function flowMap(text: string, start: number, line: number, cursor: Cursor): [YamlValue, number] {
  const map: YamlMap = {}
  for (let at = skipSpace(text, start); text[at] !== '}'; at = skipSpace(text, at)) {
    const [whole, key = ''] = /^([\w./<-]+):\s+/.exec(text.slice(at)) ?? []
    if (whole === undefined) throw new SyntaxError(`line ${line}: expected "key: value" in braces`)
    const [value, end] = flowValue(text, at + whole.length, line, cursor, true)
    if (key === '<<') Object.assign(map, { ...(value as YamlMap), ...map })
    else map[key] = value
    at = separator(text, end, '}', line)
    if (text[at] === '}') return [map, at + 1]
  }
  return [map, skipSpace(text, start) + 1]
}

function separator(text: string, end: number, close: string, line: number): number {
  const at = skipSpace(text, end)
  if (text[at] === close) return at
  if (text[at] !== ',') throw new SyntaxError(`line ${line}: expected , or ${close}`)
  return skipSpace(text, at + 1)
}

function skipSpace(text: string, start: number): number {
  let at = start
  while (text[at] === ' ') at += 1
  return at
}

function scalar(text: string, line: number, cursor: Cursor): YamlValue {
  if (text.startsWith('*')) {
    const value = cursor.anchors.get(text.slice(1))
    if (value === undefined) throw new SyntaxError(`line ${line}: ${text} is not known`)
    return value
  }
  if (/^(?:yes|no|on|off)$/i.test(text))
    throw new SyntaxError(`line ${line}: ${text} is true or false to some readers; quote it`)
  if (text === 'true' || text === 'false') return text === 'true'
  if (text === '' || text === 'null' || text === '~') return null
  if (/^-?(?:0|[1-9]\d*)(?:\.\d+)?$/.test(text)) return Number(text)
  if (/: |\s#/.test(text)) throw new SyntaxError(`line ${line}: quote ${text}`)
  return text
}
