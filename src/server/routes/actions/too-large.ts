import type { InvalidInput } from '../../../shared/action-result.ts'
import type { PageTexts } from '../../../shared/texts.ts'
import { BodyError, type PassedLimit } from '../../http/body/body-error.ts'
import { dropBody } from '../../http/body/drop-body.ts'
import { formOf } from '../../http/body/read-body.ts'
import { reportFailure } from '../../request/answer/failure.ts'
import { fill, textsOf, textsPage } from '../../request/answer/texts.ts'
import type { RequestContext } from '../../request/context.ts'
import type { DeclaredAction } from './action.ts'
import { receivedCall, type ReceivedCall } from './read-call.ts'
import type { ActionParts, ArrivedCall } from './receive-call.ts'
import { splitArguments, typedInput, type RefusedInput } from './run-action.ts'

/**
 * Shows a file that is too large at its field, if the caller shows states and the server has a place for its page.
 * @param named the action of a call that has not arrived.
 * @returns `undefined` if it cannot be shown.
 */
export async function showTooLarge(
  { admission }: ActionParts,
  { arrived, named }: { readonly arrived: ArrivedCall | undefined; readonly named: DeclaredAction | undefined },
  thrown: BodyError,
  context: RequestContext,
): Promise<(Pick<ArrivedCall, 'id' | 'received'> & { readonly outcome: RefusedInput }) | undefined> {
  const declared = arrived?.declared ?? named
  if (declared?.id === undefined) return undefined
  const received = arrived?.received ?? receivedBefore(thrown, declared.id, context)
  if (received === undefined) return undefined
  const outcome = await tooLargeInput(declared, received, thrown, context)
  if (outcome === undefined) return undefined
  const hasPlace = arrived !== undefined && declared.definition.upload === undefined
  if (!hasPlace && (await admission.enter(context)) !== undefined) return undefined
  context.record.refused = thrown.message
  dropBody(context.req, context.res)
  return { id: declared.id, received, outcome }
}

/** What is known of a call whose body ended at a file that is too large. */
function receivedBefore({ file }: BodyError, id: string, context: RequestContext): ReceivedCall | undefined {
  if (file?.fields === undefined) return undefined
  try {
    return receivedCall(formOf(file.fields), id, context)
  } catch (thrown) {
    if (thrown instanceof BodyError) return undefined
    throw thrown
  }
}

/**
 * The fault of a file that is too large, or one too many, for the state of its form.
 * @returns `undefined` for any other error, and for a call that shows no state.
 */
async function tooLargeInput(
  { definition }: DeclaredAction,
  call: ReceivedCall,
  { file, limit }: BodyError,
  context: RequestContext,
): Promise<RefusedInput | undefined> {
  if (file === undefined || limit === undefined) return undefined
  const { field } = file
  const split = await splitArguments(definition.args, call).catch(() => undefined)
  if (split?.hasState !== true) return undefined
  const { secret = [] } = definition
  const errors = Object.create(null) as Record<string, string[]>
  const own = limit.name === 'files' ? undefined : ownTooLarge(definition, context)
  errors[field] = [own ?? limitInWords(ofOneFile(limit, definition), textsOf(context))]
  const { values, omitted } = typedInput(call, secret)
  const state: InvalidInput = { kind: 'invalid', errors, values, omitted: [...new Set([...omitted, field])] }
  return { kind: 'invalid', status: 413, state, secret }
}

/** If the action's function fails, that is reported, and the built-in text is said. */
function ownTooLarge({ tooLarge }: DeclaredAction['definition'], context: RequestContext): string | undefined {
  try {
    return typeof tooLarge === 'function' ? tooLarge(textsPage(context)) : tooLarge
  } catch (thrown) {
    reportFailure(thrown, context, 'action')
    return undefined
  }
}

/** If a body exceeds a total that the action does not set, blames a file: that is what a visitor can change. */
function ofOneFile(limit: PassedLimit, { upload }: DeclaredAction['definition']): PassedLimit {
  if (limit.name !== 'bytes' || upload === undefined || upload.totalBytes !== undefined) return limit
  return { name: 'fileBytes', maximum: upload.fileBytes }
}

const MEGABYTE = 1_000_000

function limitInWords({ name, maximum }: PassedLimit, { language, tooLarge, tooManyFiles }: PageTexts): string {
  if (name === 'files') return fill(tooManyFiles, maximum.toLocaleString(language))
  const [unit, bytes] = maximum < MEGABYTE ? ['kilobyte', 1_000] : ['megabyte', MEGABYTE]
  // Rounded down: what it says must fit.
  const size = Math.floor((maximum / bytes) * 10) / 10
  return fill(tooLarge, size.toLocaleString(language, { style: 'unit', unit }))
}
