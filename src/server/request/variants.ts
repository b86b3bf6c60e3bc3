import { parseCookie } from 'cookie'
import type { VariantRequest, Variants } from '../../shared/route-definition.ts'
import type { RequestContext } from './context.ts'

const LONGEST = 100 // characters: a result is part of a key

/** Which variant of a page a request is for. */
export interface ChosenVariants {
  /** The results, by name; without those of functions that have failed. */
  readonly values: Readonly<Record<string, string>>
  /** The headers that were read, for `Vary`. */
  readonly vary: readonly string[]
  /** The first function that has failed. */
  readonly fault: { readonly name: string; readonly thrown: unknown } | undefined
}

const NONE: ChosenVariants = { values: Object.freeze({}), vary: [], fault: undefined }

const known = new WeakMap<RequestContext, { readonly of: Variants; readonly chosen: ChosenVariants }>()

/** Asks the functions of an entry's `variants`, once for each request. In a making, the answer is that of the first visitor. */
export function variantsOf(of: Variants | undefined, context: RequestContext): ChosenVariants {
  if (of === undefined) return NONE
  const before = known.get(context)
  if (before?.of === of) return before.chosen
  const values = context.making?.asked.variants
  const chosen = values === undefined ? choose(of, context) : { ...NONE, values }
  known.set(context, { of, chosen })
  return chosen
}

function choose(of: Variants, context: RequestContext): ChosenVariants {
  const vary = new Set<string>()
  const request = viewOf(context, vary)
  const values: Record<string, string> = Object.create(null)
  let fault: ChosenVariants['fault']
  for (const [name, choice] of Object.entries(of)) {
    try {
      values[name] = checked(choice(request))
    } catch (thrown) {
      fault ??= { name, thrown }
    }
  }
  return { values: Object.freeze(values), vary: [...vary], fault }
}

/** @throws {TypeError} */
function checked(result: unknown): string {
  if (typeof result === 'string' && result.length <= LONGEST) return result
  if (result instanceof Promise) result.catch(() => undefined)
  const met = typeof result === 'string' ? `${result.length} characters` : typeof result
  throw new TypeError(`it returned ${met} instead of a text of at most ${LONGEST} characters`)
}

function viewOf({ req, clientAddress }: RequestContext, vary: Set<string>): VariantRequest {
  const read = (name: string): string | undefined => {
    const lower = String(name).toLowerCase()
    vary.add(lower)
    const value = Object.hasOwn(req.headers, lower) ? req.headers[lower] : undefined
    return Array.isArray(value) ? value.join(', ') : value
  }
  let cookies: VariantRequest['cookies'] | undefined
  return Object.freeze({
    headers: Object.freeze({
      get: (name: string) => read(name) ?? null,
      has: (name: string) => read(name) !== undefined,
    }),
    get cookies() {
      return (cookies ??= Object.freeze(parseCookie(read('cookie') ?? '')))
    },
    host: clientAddress.host.toLowerCase(),
  })
}
