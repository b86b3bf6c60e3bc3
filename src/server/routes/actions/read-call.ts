import {
  ARGUMENTS_FIELD,
  FIELD_PREFIX,
  KEY_FIELD,
  IDEMPOTENCY_FIELD,
  IDEMPOTENCY_HEADER,
  type ActionArguments,
} from '../../../shared/protocol/action-call.ts'
import type { Secrets } from '../../secrets/secrets.ts'
import type { UploadedFile } from '../../http/body/uploaded-file.ts'
import { BodyError } from '../../http/body/body-error.ts'
import { parseCheckedJson } from '../../http/body/checked-json.ts'
import { formObject, type FormObject } from '../../http/body/form-object.ts'
import type { FormBody, JsonBody } from '../../http/body/read-body.ts'
import type { RequestContext } from '../../request/context.ts'
import { argumentsPurpose } from '../render/bound-arguments.ts'

/** A received call, without the runtime's fields. */
export interface ReceivedCall {
  /** A form's fields as an object, or the JSON argument. */
  readonly input: unknown
  /** Set for forms. */
  readonly form?: FormObject & { readonly fields: FormBody['fields'] }
  /** The arguments before the input: bound ones, then the state of `useActionState`. */
  readonly leading: readonly unknown[]
  /** Whether the last of them is the state; `undefined` if only the action's schema can tell. */
  readonly hasState: boolean | undefined
  readonly files: AsyncIterable<UploadedFile>
  /** React's key of the `useActionState` to which the form belongs. */
  readonly key?: string
  /** Calls with the same value run once. */
  readonly sentKey?: string
  /** That of the document's form, which the browser itself may have sent before the router has started. */
  readonly formKey?: string
}

const SENT_KEY = /^[\w-]{8,64}$/
const ONCE_HEADER = IDEMPOTENCY_HEADER.toLowerCase()

/** The call of an action that a request makes by its body and its headers. As `readCall`. */
export function receivedCall(body: FormBody | JsonBody, id: string, context: RequestContext): ReceivedCall {
  const form = context.data === undefined ? (context.action?.form ?? '') : undefined
  const sentKey = context.req.headers[ONCE_HEADER]
  return readCall(
    body,
    { id, form, sentKey: typeof sentKey === 'string' ? sentKey : undefined },
    context.services.secrets,
  )
}

/**
 * Separates the runtime's fields from the author's.
 * @param form the number of the form in its document; `undefined` for a call by the client router.
 * @throws {BodyError} 400 for runtime fields that the runtime has not written.
 */
export function readCall(
  body: FormBody | JsonBody,
  call: { readonly id: string; readonly form: string | undefined; readonly sentKey: string | undefined },
  secrets: Secrets,
): ReceivedCall {
  if (body.kind === 'json') return readJsonCall(body.value, call.sentKey)
  const own = new Map<string, string>()
  const fields = body.fields.filter(([name, value]) => {
    if (!name.startsWith(FIELD_PREFIX)) return true
    if (typeof value === 'string') own.set(name, value)
    return false
  })
  const object = formObject(fields)
  const key = own.get(KEY_FIELD)
  const formKey = own.get(IDEMPOTENCY_FIELD)
  const sentKey = call.sentKey ?? formKey
  const received = {
    input: object.value,
    form: { ...object, fields },
    files: body.files,
    ...(sentKey !== undefined && SENT_KEY.test(sentKey) ? { sentKey } : {}),
    ...(formKey !== undefined && formKey !== sentKey && SENT_KEY.test(formKey) ? { formKey } : {}),
  }
  if (call.form === undefined) {
    return { ...received, leading: readList(own.get(ARGUMENTS_FIELD)), hasState: undefined }
  }
  const signed = call.form === '' ? firstArguments(own) : own.get(ARGUMENTS_FIELD + call.form)
  const text = signed === undefined ? '[]' : secrets.verify(argumentsPurpose(call.id), signed)
  if (text === undefined) throw new BodyError(400, 'arguments that this server has not signed')
  return {
    ...received,
    leading: JSON.parse(text) as readonly unknown[],
    hasState: key !== undefined,
    ...(key === undefined ? {} : { key }),
  }
}

/** A form that was posted without its number has one list of arguments, or none. */
function firstArguments(own: ReadonlyMap<string, string>): string | undefined {
  for (const [name, value] of own) if (name.startsWith(ARGUMENTS_FIELD)) return value
  return undefined
}

function readJsonCall(value: unknown, sentKey: string | undefined): ReceivedCall {
  const { args = [], input } = (typeof value === 'object' && value !== null ? value : {}) as ActionArguments
  if (!Array.isArray(args)) throw new BodyError(400, 'arguments that are not a list')
  return {
    input,
    leading: args as readonly unknown[],
    hasState: undefined,
    files: NO_FILES,
    ...(sentKey !== undefined && SENT_KEY.test(sentKey) ? { sentKey } : {}),
  }
}

function readList(text = '[]'): readonly unknown[] {
  const list = parseCheckedJson(text)
  if (!Array.isArray(list)) throw new BodyError(400, 'arguments that are not a list')
  return list as readonly unknown[]
}

const NO_FILES: AsyncIterable<UploadedFile> = {
  [Symbol.asyncIterator]: () => ({ next: () => Promise.resolve({ done: true, value: undefined }) }),
}
