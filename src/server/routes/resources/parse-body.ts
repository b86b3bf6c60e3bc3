import type { IncomingMessage } from 'node:http'
import { forbidden } from '../../../shared/control-flow.ts'
import { isSchema, type CheckedValue, type Schema } from '../../../shared/schema.ts'
import type { HandlerModule } from '../../api/loader-types.ts'
import { BODY_SILENCE_MS } from '../../http/body/body-limits.ts'
import { formObject } from '../../http/body/form-object.ts'
import type { HeldBodies, HeldBody } from '../../http/body/held-bodies.ts'
import { readBodyType } from '../../http/body/body-kind.ts'
import { isBodiless } from '../../http/body/parsed-body.ts'
import { readBody } from '../../http/body/read-body.ts'
import { clientKey } from '../../http/client-key.ts'
import { ignoreRejections } from '../../values/find-promises.ts'
import type { RequestContext } from '../../request/context.ts'
import { giveAfterWork } from '../../request/running-work.ts'
import { isForeignCall } from '../../request/same-origin.ts'
import { checkInput } from '../load/check-input.ts'
import { untilAborted } from '../load/until-aborted.ts'

const MOST_FILES = 100 // all of them are in memory

/** Methods whose body has no meaning of its own (RFC 9110, section 9.3): a schema for all methods does not concern them. */
const BODILESS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'DELETE'])
/** Methods of which a `Request` has no body. */
const NEVER: ReadonlySet<string> = new Set(['GET', 'HEAD'])

/** Parts for parsing bodies. */
export interface BodyParts {
  readonly heldBodies: HeldBodies
  /** The configured public origins. */
  readonly origins: readonly string[]
}

/** A parsed body. */
type ParsedBody = CheckedValue & {
  /** The name of a faulty member, as the client has written it. */
  readonly nameOf?: (path: readonly PropertyKey[]) => string
}

/**
 * The schema for the body of a method: that of the module, or the one that it lists for the method.
 * @param key of the route, for the message.
 * @throws {TypeError} for a list whose names are not methods of the module with a body: it would check nothing.
 */
export function bodySchema(module: HandlerModule, method: string, key: string): Schema | undefined {
  const { body } = module
  if (body === undefined) return undefined
  if (isSchema(body)) return BODILESS.has(method) ? undefined : body
  if (typeof body !== 'object' || body === null)
    throw new TypeError(`${key}: body is neither a schema nor a list of them`)
  for (const [name, schema] of Object.entries(body)) {
    if (NEVER.has(name) || typeof module[name] !== 'function' || !Object.hasOwn(module, name)) {
      throw new TypeError(`${key}: body has a schema for ${name}, which is not a method of the module with a body`)
    }
    if (!isSchema(schema)) throw new TypeError(`${key}: body.${name} is not a schema`)
  }
  return Object.hasOwn(body, method) ? body[method] : undefined
}

/** Begins to count the memory of a body. Dispose of it when the handler has answered. */
export function holdBody(limit: number, context: RequestContext, { heldBodies }: BodyParts): HeldBody {
  if (!Number.isFinite(limit)) throw new TypeError('A body with a schema is held in memory: set a finite bodyLimit')
  return openBody(limit, context, heldBodies)
}

/**
 * Counts the memory of a body that a guard or the handler reads whole from `request`, until both are over. Nothing is
 * prepared for a request without a body, or without a limit for it: its author has decided against one.
 */
export function holdWholeBody(limit: number, context: RequestContext, { heldBodies }: BodyParts): void {
  const { req } = context
  if (!Number.isFinite(limit) || (req.httpVersionMajor < 2 && isBodiless(req))) return
  context.body.hold = () => openBody(limit, context, heldBodies)
}

function openBody(limit: number, context: RequestContext, heldBodies: HeldBodies): HeldBody {
  const held = heldBodies.open(limit, clientKey(context.clientAddress.address))
  context.onFinish(() => giveAfterWork(context, () => held[Symbol.dispose]()))
  return held
}

/**
 * Reads a body of JSON or of a form, and checks it. A body that was not sent is `undefined` for the schema.
 * @throws {BodyError} as `readBody` does; the signal of `forbidden()` for a body that a page of another site sends
 * without this site's consent.
 */
export async function parseBody(
  schema: Schema,
  held: HeldBody,
  context: RequestContext,
  { origins }: BodyParts,
): Promise<ParsedBody> {
  const { req, signal } = context
  const { limit: bytes, reader } = context.body
  if (reader !== undefined) throw new TypeError('A guard has read the body that the schema `body` parses')
  if (needsNoConsent(req) && isForeignCall(context, origins)) {
    context.record.refused = 'a form of another site'
    forbidden()
  }
  context.body.reader = 'schema'
  const { value, nameOf } = await readValue()
  held.run()
  const checked = await untilAborted(checkInput(schema, value), context)
  if (checked.issues !== undefined) return nameOf === undefined ? checked : { ...checked, nameOf }
  return { value: ignoreRejections(checked.value) }

  async function readValue(): Promise<Pick<ParsedBody, 'nameOf'> & { readonly value: unknown }> {
    if (isMissing(context)) return { value: undefined }
    const limits = { bytes, files: MOST_FILES, fileBytes: bytes, timeoutMs: BODY_SILENCE_MS, streamed: false }
    const body = await readBody(req, limits, signal, held)
    return body.kind === 'json' ? body : formObject(body.fields)
  }
}

/**
 * Whether browsers send a body of this kind to other sites without asking them (Fetch, "CORS-safelisted"): forms, and by
 * `POST` also a body without a type, which may be empty, and text.
 */
function needsNoConsent({ method, headers }: IncomingMessage): boolean {
  const kind = readBodyType(headers['content-type'])?.kind
  return kind === undefined ? method === 'POST' : kind !== 'json'
}

function isMissing({ req }: RequestContext): boolean {
  return isBodiless(req) && req.headers['content-type'] === undefined
}
