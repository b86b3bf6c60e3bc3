import { readFileSync } from 'node:fs'
import { isAbsolute, relative, resolve, sep } from 'node:path'
import type { DevFrame } from '../../../src/client/dev/dev-messages.ts'
import { foldFrames, positionOf } from '../../../src/client/dev/fold-frames.ts'

/** A position as in a stack: `file` is the literal text, a path or a URL. */
export type RawFrame = Pick<DevFrame, 'name' | 'file' | 'line' | 'column'>

/** At the end of a line. Linear: each colon is tried once, with a bounded number of digits after it. */
const POSITION = /:(\d{1,9}):(\d{1,9})\)?$/

const MOST_FRAMES = 20 // further frames are the framework's
const MOST_CHARACTERS = 100_000 // of a stack; a longer one is mostly message
const MOST_LINE = 2_000 // characters; a longer line is not a frame
const CONTEXT_LINES = 3

/**
 * Parses the frames of an error's `stack` in any browser's format: the innermost ones, up to the number that is shown.
 */
export function parseStack(stack: string): readonly RawFrame[] {
  const frames: RawFrame[] = []
  for (const line of stack.slice(0, MOST_CHARACTERS).split('\n')) {
    const frame = line.length > MOST_LINE ? undefined : parseFrame(line.trim())
    if (frame !== undefined) frames.push(frame)
    if (frames.length === MOST_FRAMES) break
  }
  return frames
}

/** `at name (file:1:2)` and `at file:1:2` in V8, `name@file:1:2` elsewhere. */
function parseFrame(text: string): RawFrame | undefined {
  const position = POSITION.exec(text)
  if (position === null) return undefined
  const call = text.slice(0, position.index)
  const { name, file } = call.startsWith('at ') ? callOfV8(call.slice(3), text.endsWith(')')) : callElsewhere(call)
  if (file === '' || file.startsWith('eval at ')) return undefined
  return { name, file: withoutPrefix(file, 'file://'), line: Number(position[1]), column: Number(position[2]) }
}

function callOfV8(call: string, inParentheses: boolean): Pick<RawFrame, 'name' | 'file'> {
  const text = withoutPrefix(call, 'async ')
  const open = inParentheses ? text.indexOf(' (') : -1
  return open === -1 ? { name: '', file: text } : { name: text.slice(0, open), file: text.slice(open + 2) }
}

function callElsewhere(call: string): Pick<RawFrame, 'name' | 'file'> {
  const at = call.indexOf('@')
  return { name: call.slice(0, Math.max(at, 0)), file: at === -1 ? '' : call.slice(at + 1) }
}

function withoutPrefix(text: string, prefix: string): string {
  return text.startsWith(prefix) ? text.slice(prefix.length) : text
}

/** Names the owner of a file outside of the project's own code; `undefined` for code of the project. */
export type OwnerOf = (file: string) => string | undefined

const PACKAGE = /node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules\/)/
const OF_REACT = new Set(['react', 'react-dom', 'react-refresh', 'scheduler'])

/** Node's own modules, and packages by their folder. */
export const ownerByPath: OwnerOf = (file) => {
  if (file.startsWith('node:')) return 'Node'
  const name = PACKAGE.exec(file.split(sep).join('/'))?.[1]
  if (name === undefined) return undefined
  if (name === 'millrace') return 'Millrace'
  return OF_REACT.has(name) ? 'React' : name
}

/**
 * Names each frame's file by its path in the project, and separates the project's own code from other code.
 * @param isSource whether a file is code that the build has read, by its path in the project. A stack is text, and may
 * name any file of this machine: only files that the build knows are read.
 * @param ownerOf names the owner of a frame's literal file.
 */
export function describeFrames(
  root: string,
  frames: readonly RawFrame[],
  isSource: (path: string) => boolean,
  ownerOf: OwnerOf = ownerByPath,
): readonly DevFrame[] {
  return frames.map(({ name, file, line, column }) => {
    const path = isAbsolute(file) ? relative(root, file).split(sep).join('/') : file
    const owner = ownerOf(file)
    const inside = isAbsolute(file) && !path.startsWith('../') && !path.includes('node_modules/')
    const own = inside && owner === undefined && isSource(path)
    return { name, file: path, line, column, own, ...(own || owner === undefined ? {} : { owner }) }
  })
}

/**
 * A stack for the terminal: own frames by their path in the project, those of others folded as in the overlay. A stack
 * without an own frame stays whole, because it has nothing else to tell.
 * @param describe as `describeFrames`.
 */
export function foldStack(stack: string, describe: (frames: readonly RawFrame[]) => readonly DevFrame[]): string {
  const lines = stack.slice(0, MOST_CHARACTERS).split('\n')
  const described = lines.map((line) => describe(line.trim().startsWith('at ') ? parseStack(line) : [])[0])
  if (!described.some((frame) => frame?.own === true)) return stack
  const folded: string[] = []
  let others: DevFrame[] = []
  const fold = (): void => {
    for (const group of foldFrames(others)) if (group.kind === 'folded') folded.push(`    … ${group.title}`)
    others = []
  }
  for (const [index, line] of lines.entries()) {
    const frame = described[index]
    if (frame?.own === false) {
      others.push(frame)
      continue
    }
    fold()
    folded.push(frame === undefined ? line : `    at ${frame.name} (${positionOf(frame)})`.replace('  (', ' ('))
  }
  fold()
  return folded.join('\n')
}

/** The lines around the first frame of the project's own code. */
export function excerptOf(root: string, frames: readonly DevFrame[]): string | undefined {
  const frame = frames.find(({ own }) => own)
  if (frame === undefined) return undefined
  const lines = readLines(resolve(root, frame.file))
  const first = Math.max(frame.line - 1 - CONTEXT_LINES, 0)
  const shown = lines.slice(first, frame.line + CONTEXT_LINES)
  if (shown.length === 0) return undefined
  const width = String(first + shown.length).length
  return shown
    .map((text, index) => {
      const number = first + index + 1
      return `${number === frame.line ? '>' : ' '} ${String(number).padStart(width)} | ${text}`
    })
    .join('\n')
}

function readLines(file: string): readonly string[] {
  try {
    return readFileSync(file, 'utf8').split('\n')
  } catch {
    return []
  }
}
