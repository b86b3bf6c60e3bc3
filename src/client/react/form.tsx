import { useContext, type FormHTMLAttributes, type ReactNode, type SubmitEvent } from 'react'
import { withBasePath } from '../../shared/base-path.ts'
import { runsScript } from '../../shared/external.ts'
import { MAX_TARGET_BYTES } from '../../shared/limits.ts'
import type { HrefSearch } from '../../shared/href.ts'
import type { Href, LinkTarget } from '../../shared/link-target.ts'
import { RouterContext } from './contexts.ts'
import type { Router } from './router-types.ts'
import { withoutDefaults } from './search-defaults.ts'

/**
 * Props of `Form`: those of a form whose fields become search params.
 * @typeParam To the type of `action`.
 */
export type FormProps<To extends string = Href> = FormAttributes & {
  /** A path of the table (see `href()`), whose query the fields replace. Default: the page on screen. */
  readonly action?: LinkTarget<To> | undefined
}

// Neither generic nor an interface: see `LinkProps`.
type FormAttributes = Omit<FormHTMLAttributes<HTMLFormElement>, 'action' | 'method'> & {
  readonly method: 'get'
  /** Replace the current history entry. Default: `false`. */
  readonly replace?: boolean | undefined
  /** Scroll to the top of the page and move the focus to its heading. Default: only if it is another page. */
  readonly scroll?: boolean | undefined
  /** Fields that have these values are left out of the URL. Without JavaScript, browsers send them. */
  readonly defaults?: HrefSearch | undefined
}

/**
 * A form for search params: `?word=wheel`. The client router follows it as it follows a link. Without JavaScript, the
 * browser loads the same page as a document. For what changes something, use a form with an action.
 * @example
 * ```tsx
 * import { Form } from 'millrace'
 *
 * export const search = (
 *   <Form method="get">
 *     <input name="word" type="search" />
 *     <button>Search</button>
 *   </Form>
 * )
 * ```
 */
export function Form<To extends string>(props: FormProps<To>): ReactNode {
  const { action, replace, scroll, defaults, onSubmit, ...rest } = props
  const router = useContext(RouterContext)

  function follow(event: SubmitEvent<HTMLFormElement>): void {
    onSubmit?.(event)
    followForm(event.currentTarget, event, router, { replace, scroll, defaults })
  }

  const to = action === undefined || runsScript(action) ? undefined : withBasePath(action)
  return <form {...rest} action={to} onSubmit={follow} />
}

/** Navigates in place of the browser to where a form leads, if the router can. */
export function followForm(
  form: HTMLFormElement,
  event: SubmitEvent<object>,
  router: Router | null,
  { replace = false, scroll, defaults }: Pick<FormProps, 'replace' | 'scroll' | 'defaults'> = {},
): void {
  if (router === null || event.defaultPrevented) return
  // The address bar may be ahead of the page on screen.
  const here = new URL(withBasePath(router.screen.href), location.href)
  const url = submittedUrl(form, event.nativeEvent.submitter, here, defaults)
  if (url === undefined) return
  event.preventDefault()
  router.navigate({ href: url.href }, { replace, scroll: scroll ?? url.pathname !== here.pathname })
}

/**
 * The URL to which a browser would submit a form by GET.
 * @param here of the page on screen.
 * @returns `undefined` if the browser must submit it itself: to another site or window, by another method, or to a URL that
 * is too long for the server, whose answer it shows.
 */
function submittedUrl(
  form: HTMLFormElement,
  submitter: HTMLElement | null,
  here: URL,
  defaults?: HrefSearch,
): URL | undefined {
  // By the prototype and the document: a form's own members may be hidden by its fields.
  const { getAttribute } = Element.prototype
  const read = (name: string): string => submitter?.getAttribute(`form${name}`) ?? getAttribute.call(form, name) ?? ''
  if (!/^(?:get)?$/i.test(read('method')) || !/^(?:_self)?$/i.test(read('target'))) return undefined
  const action = read('action')
  const base = document.baseURI
  if (action !== '' && !URL.canParse(action, base)) return undefined
  const url = action === '' ? new URL(here.pathname, here) : new URL(action, base)
  if (url.origin !== here.origin) return undefined
  const params = new URLSearchParams()
  for (const [name, value] of new FormData(form, submitter)) {
    // As browsers do: line ends as in all forms, and files by their names.
    params.append(name, (typeof value === 'string' ? value : value.name).replace(/\r\n?|\n/g, '\r\n'))
  }
  url.search = withoutDefaults(params, defaults)
  return url.href.length > MAX_TARGET_BYTES ? undefined : url
}
