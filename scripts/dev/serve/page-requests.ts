import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  DEV_OPEN_PATH,
  DEV_STACK_PATH,
  type DevFailure,
  type DevWarningKind,
} from '../../../src/client/dev/dev-messages.ts'
import type { PageReport } from '../tell/dev-failures.ts'
import type { SourcePlace } from './open-editor.ts'
import { isAllowedHost, LOCAL_ONLY } from '../process/local-hosts.ts'
import { isFromOwnPage } from './own-page.ts'

/** What the development server does for scripts of its own pages. */
export interface PageAnswers {
  /** Translates an error of a page into positions in the sources. */
  explain(report: PageReport): DevFailure
  /**
   * Opens a file of the project in an editor.
   * @returns why it cannot be opened; `undefined` once it has been asked for.
   */
  open(place: SourcePlace): Promise<string | undefined>
}

const BODY_LIMIT = 100_000 // characters; a stack is never longer
const MOST_POSITION = 1_000_000 // no source has more lines, or longer ones

const WARNINGS: ReadonlySet<string> = new Set<DevWarningKind>(['image', 'link', 'react', 'slow', 'title', 'value'])

/** Whether a path of the development server is for scripts of its own pages, by POST. */
export function isPageRequest(path: string): boolean {
  return path === DEV_STACK_PATH || path === DEV_OPEN_PATH
}

/** Answers a script of an own page. Another site's page could otherwise have files opened, or learn what a stack means. */
export async function answerPage(
  answers: PageAnswers,
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (request.method !== 'POST' || !isFromOwnPage(request.headers)) return void response.writeHead(403).end()
  // Pages of other sites cannot send JSON without a preflight.
  if (request.headers['content-type'] !== 'application/json') return void response.writeHead(415).end()
  const text = await readBody(request)
  if (text === undefined) return void response.writeHead(413, { Connection: 'close' }).end()
  const body = readMembers(text)
  if (body === undefined) return void response.writeHead(400).end()
  if (path === DEV_STACK_PATH) {
    response
      .writeHead(200, { 'Content-Type': 'application/json' })
      .end(JSON.stringify(answers.explain(readReport(body))))
    return
  }
  // Phones and tunnels see the overlay too, and the editor is on this desk.
  if (!isOfThisMachine(request)) {
    response.writeHead(422, { 'Content-Type': 'text/plain; charset=utf-8' })
    return void response.end('Only pages under localhost, on this machine, open files in the editor.')
  }
  const place = readPlace(body)
  if (place === undefined) return void response.writeHead(400).end()
  const fault = await answers.open(place)
  if (fault === undefined) return void response.writeHead(204).end()
  response.writeHead(422, { 'Content-Type': 'text/plain; charset=utf-8' }).end(fault)
}

function isOfThisMachine({ socket, headers }: IncomingMessage): boolean {
  const { remoteAddress = '' } = socket
  const isLoopback = remoteAddress === '::1' || /^(?:::ffff:)?127\./.test(remoteAddress)
  return isLoopback && isAllowedHost(headers.host, LOCAL_ONLY)
}

async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const parts: string[] = []
  let length = 0
  request.setEncoding('utf8')
  for await (const part of request) {
    length += String(part).length
    if (length > BODY_LIMIT) return undefined
    parts.push(String(part))
  }
  return parts.join('')
}

/** Own members only. */
type Members = (name: string) => unknown

function readMembers(text: string): Members | undefined {
  try {
    const parsed: unknown = JSON.parse(text)
    if (typeof parsed !== 'object' || parsed === null) return undefined
    return (name) => Object.getOwnPropertyDescriptor(parsed, name)?.value
  } catch {
    return undefined
  }
}

function readReport(member: Members): PageReport {
  const textOf = (name: string): string => {
    const value = member(name)
    return typeof value === 'string' ? value : ''
  }
  const [type, route, warning] = ['type', 'route', 'warning'].map(textOf)
  return {
    message: textOf('message'),
    stack: textOf('stack'),
    components: textOf('components'),
    ...(type ? { type } : {}),
    ...(route ? { route } : {}),
    ...(warning && WARNINGS.has(warning) ? { warning: warning as DevWarningKind } : {}),
  }
}

function readPlace(member: Members): SourcePlace | undefined {
  const [file, line, column] = ['file', 'line', 'column'].map(member)
  if (typeof file !== 'string' || !isPosition(line) || !isPosition(column)) return undefined
  return { file, line, column }
}

function isPosition(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 1 && Number(value) <= MOST_POSITION
}
