import { hash } from 'node:crypto'
import type { ReportEvent, ReportFrame } from '../../api/report-inbox.ts'

/** The hash in the name of a built file: ours, and the hexadecimal one of other tools. */
const ASSET_HASH = /[-.](?:[0-9A-Z]{8}|[0-9a-f]{8,64})(?=\.[a-z][a-z0-9]{1,5}\b)/g
const SCRIPT = /\.[cm]?js$/
const DEFAULT_PART = /^\{\{\s*default\s*\}\}$/ // the SDK's way to say "and your own idea of it"

/**
 * The group of an event: by the SDK's fingerprint; otherwise by exception and first frame of the application's own
 * code; otherwise by exception and message. A frame counts by its function, not its line. Names of built files count
 * without their hash, so that a group survives a new build; because they say little, the message counts too.
 * @returns sixteen hexadecimal digits.
 */
export function groupOf(event: ReportEvent, fingerprint: readonly string[] | undefined): string {
  const own = ownParts(event)
  // Once: a thousand of them in a kilobyte would be megabytes.
  const at = fingerprint?.findIndex((part) => DEFAULT_PART.test(part)) ?? -1
  const parts = at === -1 ? (fingerprint ?? own) : fingerprint?.toSpliced(at, 1, ...own)
  return hash('sha256', JSON.stringify(parts), 'hex').slice(0, 16)
}

function ownParts({ exceptions, title }: ReportEvent): string[] {
  const thrown = exceptions.at(-1)
  if (thrown === undefined) return ['message', withoutNumbers(title)]
  const frame = thrown.frames.find(({ inApp }) => inApp)
  const message = withoutNumbers(thrown.value)
  return frame === undefined ? ['value', thrown.type, message] : ['frame', thrown.type, ...placeOf(frame, message)]
}

function placeOf({ file, function: name }: ReportFrame, message: string): readonly string[] {
  const path = file.replace(/^[a-z][\w+.-]*:\/\/[^/]*/i, '').replace(/[?#].*$/s, '')
  // Every build renames minified functions, and built files have only one line.
  const built = SCRIPT.test(path) ? path.replaceAll(ASSET_HASH, '') : path
  return built === path ? [`${path} ${name}`] : [built, message]
}

/** Ids, counts and addresses differ each time, and the names of built files with each build. */
function withoutNumbers(text: string): string {
  return text.replaceAll(ASSET_HASH, '').replace(/\b(?:0x)?[0-9a-f-]{8,}\b|\d+/gi, '#')
}
