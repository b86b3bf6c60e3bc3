import type { Captures } from './captures.ts'
import type { Refuse } from './rule-error.ts'
import type { TextTemplate } from './text-template.ts'
import { captureParts } from './captures.ts'
import { compileTemplate, fillTemplate } from './text-template.ts'

/** Scheme and authority of a destination on another origin. */
export interface HostTemplate {
  /** `http://` or `https://`. */
  readonly scheme: string
  readonly template: TextTemplate
  /** `''`, or the port with its colon. */
  readonly port: string
}

const AUTHORITY = /^(https?:\/\/)(\[[0-9a-f:.]+\]|(?:[0-9a-z_.-]|:[a-z_]\w*)+)(:\d{1,5})?$/i
const PARAM = /:([a-z_]\w*)/gi

/** RFC 1035, section 2.3.1: one label of a host name. */
const LABEL = /^[0-9a-z](?:[0-9a-z-]{0,61}[0-9a-z])?$/i

/** Browsers and Node read a host with such an ending as an IPv4 address, whatever precedes it. */
const NUMERIC_END = /(?:^|\.)(?:\d+|0x[0-9a-f]*)\.?$/i

const MAX_PORT = 65_535

/**
 * @param authority scheme, host and port as written in the table.
 * @throws the errors of `refuse`.
 */
export function compileHost(authority: string, names: ReadonlySet<string>, refuse: Refuse): HostTemplate {
  const [, scheme = '', host = '', port = ''] = AUTHORITY.exec(authority) ?? []
  if (host === '' || Number(port.slice(1)) > MAX_PORT) {
    return refuse(
      'destination-unparsable',
      `destination names no host in "${authority}"`,
      'Write scheme, host and port alone, without credentials, and names outside ASCII as xn--',
    )
  }
  if (host.startsWith('[')) return { scheme: scheme.toLowerCase(), template: [host], port }
  for (const [, name = ''] of host.matchAll(PARAM)) {
    if (names.has(name)) continue
    refuse(
      'destination-unknown-params',
      `destination uses :${name} in its host, which neither source nor has captures`,
      'Capture it under that name or take it out',
    )
  }
  return { scheme: scheme.toLowerCase(), template: compileTemplate(host, names), port }
}

/**
 * Every param must be a host label, so that a request can only choose a name inside the table's host: no port, path,
 * credentials or address.
 * @returns `undefined` if a capture is not a label.
 */
export function fillHost({ scheme, template, port }: HostTemplate, captures: Captures): string | undefined {
  for (const part of template) {
    if (typeof part === 'string') continue
    const capture = captures.get(part.name)
    if (capture === undefined || !captureParts(capture).every((label) => LABEL.test(label))) return undefined
  }
  const host = fillTemplate(template, captures, captureParts)
  if (host.includes('/') || (template.some((part) => typeof part !== 'string') && NUMERIC_END.test(host))) {
    return undefined
  }
  return `${scheme}${host}${port}`
}
