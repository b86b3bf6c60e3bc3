/**
 * Regular expressions as programs of a few instructions, for `regex-runner`. Single characters and classes are left to
 * the platform's own engine, so their meaning (escapes, ranges, case) is the platform's. The way through repeats,
 * alternatives and look-aheads is ours, because that is where a platform's engine may backtrack without bound.
 */

/** One step. A position in the program is an index; a position in the text is counted in UTF-16 units. */
export type Instruction =
  | { readonly op: 'unit'; readonly accepts: (unit: number) => boolean }
  | { readonly op: 'split'; first: number; second: number }
  | { readonly op: 'jump'; to: number }
  | { readonly op: 'save'; readonly slot: number }
  | { readonly op: 'look'; readonly program: Program; readonly negated: boolean }
  | { readonly op: 'assert'; readonly holds: (text: string, position: number) => boolean }
  | { readonly op: 'match' }

/** Ends with `match`. Group `n` is saved in slots `2n` and `2n + 1`. */
export type Program = readonly Instruction[]

/** A compiled expression. */
export interface RegexProgram {
  readonly program: Program
  /** How many slots a run needs. */
  readonly slots: number
}

type Node =
  | { readonly kind: 'step'; readonly instruction: Instruction }
  | { readonly kind: 'sequence'; readonly parts: readonly Node[] }
  | { readonly kind: 'choice'; readonly options: readonly Node[] }
  | { readonly kind: 'group'; readonly index: number; readonly body: Node }
  | { readonly kind: 'repeat'; readonly body: Node; readonly min: number; readonly max: number; readonly lazy: boolean }

/** Counted repeats are written out; a program longer than this is not worth having. */
const LONGEST_PROGRAM = 5_000 // instructions

class Unsupported extends Error {}

/**
 * Compiles the source of a case-insensitive expression without other flags.
 * @returns `undefined` for what is not supported: look-behind, back-references, named groups, in-line modifiers,
 * quantified look-aheads, repeats of what can be empty, groups that capture inside a repeat or a look-ahead, more than 5,000 instructions.
 */
export function compileProgram(source: string): RegexProgram | undefined {
  try {
    const { node, groups } = parseExpression(source)
    return { program: emitProgram(node), slots: 2 * (groups + 1) }
  } catch (error) {
    if (error instanceof Unsupported) return undefined
    throw error
  }
}

function parseExpression(source: string): { node: Node; groups: number } {
  let at = 0
  let groups = 0
  const units = new Map<string, Node>()

  function parseChoice(): Node {
    const options = [parseSequence()]
    while (source[at] === '|') {
      at += 1
      options.push(parseSequence())
    }
    return options.length === 1 && options[0] ? options[0] : { kind: 'choice', options }
  }

  function parseSequence(): Node {
    const parts: Node[] = []
    while (at < source.length && source[at] !== '|' && source[at] !== ')') parts.push(parseRepeat())
    return { kind: 'sequence', parts }
  }

  function parseRepeat(): Node {
    const groupsBefore = groups
    const body = parseAtom()
    const quantifier = /^(?:[*+?]|\{\d+(?:,\d*)?\})/.exec(source.slice(at))?.[0]
    if (quantifier === undefined) return body
    if (body.kind === 'step' && body.instruction.op !== 'unit') throw new Unsupported()
    at += quantifier.length
    const lazy = source[at] === '?'
    if (lazy) at += 1
    const range = rangeOf(quantifier)
    // Each round would have to forget what the round before captured.
    if (groups > groupsBefore && range.max > 1) throw new Unsupported()
    // The platform tells an empty turn of a repeat from a full one; a step and a place alone cannot.
    if (canBeEmpty(body)) throw new Unsupported()
    return { kind: 'repeat', body, lazy, ...range }
  }

  function parseAtom(): Node {
    const rest = source.slice(at)
    const opening = /^\((?:\?[:=!])?/.exec(rest)?.[0]
    if (opening !== undefined) return parseGroup(opening)
    if (rest.startsWith('^')) return step(1, { op: 'assert', holds: (_, position) => position === 0 })
    if (rest.startsWith('$')) return step(1, { op: 'assert', holds: (text, position) => position === text.length })
    if (rest.startsWith('\\b')) return step(2, { op: 'assert', holds: isWordBoundary })
    if (rest.startsWith('\\B')) return step(2, { op: 'assert', holds: (text, at) => !isWordBoundary(text, at) })
    if (/^\\[1-9kpPu]/.test(rest) && !/^\\u[0-9a-f]{4}/i.test(rest)) throw new Unsupported()
    const unit = /^(?:\[(?:[^\]\\]|\\[^])*\]|\\(?:x[0-9a-f]{2}|u[0-9a-f]{4}|c[a-z]|[^])|[^])/i.exec(rest)?.[0] ?? ''
    at += unit.length
    return unitNode(unit)
  }

  function parseGroup(opening: string): Node {
    at += opening.length
    if (source[at] === '?') throw new Unsupported()
    const groupsBefore = groups
    const index = opening === '(' ? (groups += 1) : 0
    const body = parseChoice()
    if (source[at] !== ')') throw new Unsupported()
    at += 1
    if (opening === '(') return { kind: 'group', index, body }
    if (opening === '(?:') return { kind: 'sequence', parts: [body] }
    if (groups > groupsBefore) throw new Unsupported()
    return { kind: 'step', instruction: { op: 'look', program: emitProgram(body), negated: opening === '(?!' } }
  }

  function step(length: number, instruction: Instruction): Node {
    at += length
    return { kind: 'step', instruction }
  }

  function unitNode(unit: string): Node {
    let node = units.get(unit)
    if (node === undefined) {
      const whole = new RegExp(`^${unit === '{' || unit === '}' || unit === ']' ? `\\${unit}` : unit}$`, 'i')
      node = { kind: 'step', instruction: { op: 'unit', accepts: acceptsUnit(whole) } }
      units.set(unit, node)
    }
    return node
  }

  const node = parseChoice()
  if (at < source.length) throw new Unsupported()
  return { node, groups }
}

function rangeOf(quantifier: string): { min: number; max: number } {
  if (quantifier === '*') return { min: 0, max: Infinity }
  if (quantifier === '+') return { min: 1, max: Infinity }
  if (quantifier === '?') return { min: 0, max: 1 }
  const [min = '0', max] = quantifier.slice(1, -1).split(',')
  return { min: Number(min), max: max === undefined ? Number(min) : max === '' ? Infinity : Number(max) }
}

function acceptsUnit(whole: RegExp): (unit: number) => boolean {
  const ascii = Uint8Array.from({ length: 128 }, (_, code) => Number(whole.test(String.fromCharCode(code))))
  return (unit) => (unit < ascii.length ? ascii[unit] === 1 : whole.test(String.fromCharCode(unit)))
}

function isWordBoundary(text: string, position: number): boolean {
  const isWord = (index: number) => /^\w$/.test(text.charAt(index))
  return isWord(position - 1) !== isWord(position)
}

function canBeEmpty(node: Node): boolean {
  switch (node.kind) {
    case 'step':
      return node.instruction.op !== 'unit'
    case 'sequence':
      return node.parts.every(canBeEmpty)
    case 'choice':
      return node.options.some(canBeEmpty)
    case 'group':
      return canBeEmpty(node.body)
    case 'repeat':
      return node.min === 0 || canBeEmpty(node.body)
  }
}

function emitProgram(root: Node): Program {
  const program: Instruction[] = []
  emit(root, program)
  push(program, { op: 'match' })
  return program
}

function push<Added extends Instruction>(program: Instruction[], instruction: Added): Added {
  if (program.length >= LONGEST_PROGRAM) throw new Unsupported()
  program.push(instruction)
  return instruction
}

function emit(node: Node, program: Instruction[]): void {
  if (node.kind === 'step') push(program, node.instruction)
  else if (node.kind === 'sequence') for (const part of node.parts) emit(part, program)
  else if (node.kind === 'choice') emitChoice(node.options, program)
  else if (node.kind === 'repeat') emitRepeat(node, program)
  else {
    push(program, { op: 'save', slot: 2 * node.index })
    emit(node.body, program)
    push(program, { op: 'save', slot: 2 * node.index + 1 })
  }
}

function emitChoice(options: readonly Node[], program: Instruction[]): void {
  const exits: { to: number }[] = []
  for (const [index, option] of options.entries()) {
    if (index === options.length - 1) {
      emit(option, program)
      continue
    }
    const split = push(program, { op: 'split', first: program.length + 1, second: 0 })
    emit(option, program)
    exits.push(push(program, { op: 'jump', to: 0 }))
    split.second = program.length
  }
  for (const exit of exits) exit.to = program.length
}

function emitRepeat(node: Extract<Node, { kind: 'repeat' }>, program: Instruction[]): void {
  for (let count = 0; count < node.min; count += 1) emit(node.body, program)
  if (node.max === Infinity) {
    const start = program.length
    const split = emitFork(program)
    emit(node.body, program)
    push(program, { op: 'jump', to: start })
    aim(split, node.lazy, start + 1, program.length)
    return
  }
  const forks: { split: { first: number; second: number }; body: number }[] = []
  for (let count = node.min; count < node.max; count += 1) {
    forks.push({ split: emitFork(program), body: program.length })
    emit(node.body, program)
  }
  for (const { split, body } of forks) aim(split, node.lazy, body, program.length)
}

function emitFork(program: Instruction[]): { first: number; second: number } {
  return push(program, { op: 'split', first: 0, second: 0 })
}

function aim(split: { first: number; second: number }, lazy: boolean, body: number, exit: number): void {
  split.first = lazy ? exit : body
  split.second = lazy ? body : exit
}
