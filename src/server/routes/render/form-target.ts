import { AsyncLocalStorage } from 'node:async_hooks'
import { randomUUID } from 'node:crypto'
import type { RequestContext } from '../../request/context.ts'
import { argumentsPurpose } from './bound-arguments.ts'

/** A form that belongs to a `useActionState`. */
export interface StateForm {
  /** Of its action. */
  readonly id: string
  /** What is bound, the state not among it. */
  readonly args: readonly unknown[]
  /** React's name for it. */
  readonly key: string
}

/** What forms of a page need to know of the page they are rendered on. */
export interface FormTarget {
  /** Of the page, still percent-encoded. */
  readonly pathname: string
  /** `''` or with its question mark. */
  readonly search: string
  /** Whether a form has been rendered, and with it the query: no other one leads to the same document. */
  readonly namesQuery?: boolean
  /** Makes a call of this document run once, however often it is sent; absent where many visitors share the document. */
  readonly once: string | undefined
  /**
   * Forms that belong to a `useActionState`, as they are rendered. React names those differently in its two renderers, so
   * that the page that such a form is sent to must be rendered by the same one.
   */
  readonly stateForms: StateForm[]
  /** Signs bound arguments for one action. */
  sign(actionId: string, text: string): string
}

/** React asks an action for its form's attributes without saying on which page: it is known by where the render runs. */
const forms = new AsyncLocalStorage<FormTarget>()

/** Renders with this page as the target of its forms. */
export function withForms<Result>(target: FormTarget, render: () => Result): Result {
  return forms.run(target, render)
}

/** The page that is being rendered; `undefined` outside of a render. */
export function currentForms(): FormTarget | undefined {
  return forms.getStore()
}

/** The page of a request as its forms see it. What forms need beyond the URL is made when the first one asks. */
export function formTarget(context: RequestContext): FormTarget {
  return new RequestForms(context)
}

class RequestForms implements FormTarget {
  readonly pathname: string
  namesQuery = false
  readonly stateForms: StateForm[] = []
  readonly #context: RequestContext
  #once: string | undefined = undefined

  constructor(context: RequestContext) {
    this.pathname = context.pathname
    this.#context = context
  }

  get search(): string {
    this.namesQuery = true
    return this.#context.search
  }

  get once(): string | undefined {
    return isShared(this.#context) ? undefined : (this.#once ??= randomUUID())
  }

  sign(id: string, text: string): string {
    return this.#context.services.secrets.sign(argumentsPurpose(id), text)
  }
}

/** Whether caches may hand the document to others: then nothing in it may belong to one call. */
function isShared({ givenHeaders, res }: RequestContext): boolean {
  const wanted = givenHeaders?.get('cache-control') ?? res.getHeader('cache-control')
  return typeof wanted === 'string' && /\bpublic\b|\bs-maxage\b/i.test(wanted)
}
