import { relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { formatMessages, type BuildFailure, type Message, type Note } from 'esbuild'
import { BuildFault } from './build-fault.ts'
import { placeText } from './source-place.ts'

/** esbuild's namespace for the references that browsers get instead of a module with actions. */
export const ACTION_REFERENCES = 'action-references'

/** In development, namespace of modules that have the names of a package's file, for esbuild to check imports of it. */
export const PACKAGE_NAMES = 'package-names'

/** esbuild's namespace for the lists of stylesheets that become one file. */
export const STYLE_GROUP = 'style-group'

/** Whether esbuild itself refused the sources: its messages then have file and line. */
export function isEsbuildFailure(thrown: unknown): thrown is BuildFailure {
  return thrown instanceof Error && 'errors' in thrown && Array.isArray(thrown.errors) && 'warnings' in thrown
}

/** esbuild's messages as text, each once: the fault, file:line:column, and the line itself. */
export async function describeMessages(messages: readonly Message[], kind: 'error' | 'warning'): Promise<string> {
  const formatted = await formatMessages(
    messages.map((message) => readable(message, process.cwd())),
    { kind, color: false, terminalWidth: 120 },
  )
  return [...new Set(formatted.map((text) => text.trim()))].join('\n\n')
}

/** Whether a note is about what somebody has written: a list of stylesheets that the build has made is not. */
function isInSource({ location }: Note): boolean {
  return location?.file.startsWith(`${STYLE_GROUP}:`) !== true
}

/**
 * The text to print for a failed build.
 * @returns `undefined` if the cause is a defect of the build itself, for which a stack is useful.
 */
export async function describeFault(thrown: unknown): Promise<string | undefined> {
  if (thrown instanceof BuildFault)
    return thrown.place === undefined ? thrown.message : `${placeText(thrown.place)}: ${thrown.message}`
  return isEsbuildFailure(thrown) ? describeMessages(thrown.errors, 'error') : undefined
}

/** In place of a module with actions, and of a package's: their paths are the author's, the namespaces are the build's. */
const STAND_INS = new RegExp(`"(?:${ACTION_REFERENCES}|${PACKAGE_NAMES}):([^"]+)"`, 'g')

/** esbuild's advice for a package that it does not find: a page with the import left in would not run. */
const EXTERNAL = /^You can mark the path "([^"]+)" as external/

/** A message in the terms of an application's author: paths of sources, and advice that helps. */
export function readable(message: Message, root: string): Message {
  const { text, notes, ...rest } = withoutStack(message, root)
  return { ...rest, text: text.replaceAll(STAND_INS, '"$1"'), notes: notes.flatMap(advice) }
}

function advice(note: Note): readonly Note[] {
  const path = EXTERNAL.exec(note.text)?.[1]
  if (path === undefined)
    return [note.location?.file.startsWith(PACKAGE_NAMES) === true ? { ...note, location: null } : note]
  if (path.includes(':')) return []
  const name = /^(?:@[^/]+\/)?[a-z\d][^/]*/i.exec(path)?.[0]
  const alias = 'in "alias" of millrace.config.ts.'
  const text =
    name === undefined ? `Name it ${alias}` : `Install the package (npm install ${name}), or name it ${alias}`
  return [{ ...note, text }]
}

const STACK = /\n\s+at /
const FRAME = /^\s+at (?:.*\()?(.+?):(\d+):(\d+)\)?$/gm

/**
 * For what a plugin throws, esbuild gives a stack in place of a source line, and in a note another one of its own call. The
 * message names the plugin's line instead.
 * @param root folder that paths are shown from.
 */
function withoutStack(message: Message, root: string): Message {
  const notes = message.notes
    .filter(isInSource)
    .filter(({ location }) => location === null || !STACK.test(location.lineText))
  const stack = message.location?.lineText ?? ''
  if (message.pluginName === '' || !STACK.test(stack)) return { ...message, notes }
  const [place] = [...stack.matchAll(FRAME)].flatMap(([, file = '', line, column]) =>
    /^node:|[\\/]node_modules[\\/]/.test(file) ? [] : `${displayed(file, root)}:${line}:${column}`,
  )
  return {
    ...message,
    text: place === undefined ? message.text : `${message.text} (${place})`,
    location: null,
    notes,
  }
}

function displayed(file: string, root: string): string {
  const path = relative(root, file.startsWith('file:') ? fileURLToPath(file) : file)
  return path.split(sep).join('/')
}
