import { readFileSync } from 'node:fs'
import { isAbsolute, relative, resolve, sep } from 'node:path'
import type { DevFrame } from '../../src/client/dev/dev-messages.ts'

/** A position as a stack names it: `file` is whatever stands there, a path or a URL. */
export type RawFrame = Pick<DevFrame, 'name' | 'file' | 'line' | 'column'>

// `at name (file:1:2)` and `at file:1:2` in V8, `name@file:1:2` elsewhere.
const V8_FRAME = /^\s*at (?:async )?(?:(.*?) \()?(?:file:\/\/)?([^()]+?):(\d+):(\d+)\)?$/
const OTHER_FRAME = /^(.*?)@(.+?):(\d+):(\d+)$/

const MOST_FRAMES = 20 // what is further out is the framework's
const CONTEXT_LINES = 3

/** Reads the calls out of an error's `stack`, in any browser's form. */
export function parseStack(stack: string): readonly RawFrame[] {
  return stack.split('\n').flatMap((line) => {
    const [, name = '', file, row, column] = V8_FRAME.exec(line) ?? OTHER_FRAME.exec(line) ?? []
    return file === undefined ? [] : [{ name, file, line: Number(row), column: Number(column) }]
  })
}

/** Names each frame's file by its path in the project, and tells the project's own code from that of others. */
export function describeFrames(root: string, frames: readonly RawFrame[]): readonly DevFrame[] {
  return frames.slice(0, MOST_FRAMES).map(({ name, file, line, column }) => {
    const path = isAbsolute(file) ? relative(root, file).split(sep).join('/') : file
    const own = isAbsolute(file) && !path.startsWith('../') && !path.includes('node_modules/')
    return { name, file: path, line, column, own }
  })
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
