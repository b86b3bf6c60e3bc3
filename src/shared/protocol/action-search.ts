/**
 * The query of a page, of a URL that a form was sent to: without every `ACTION_PARAM`. It is part of the first load.
 * @param search `''` or with its question mark.
 */
export function withoutAction(search: string): string {
  return search.replace(/[?&]_action=[^&]*/g, '').replace(/^&/, '?')
}
