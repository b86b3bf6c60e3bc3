/**
 * The query of a page, from a URL to which a form was posted: without `ACTION_PARAM`. Part of the first load.
 * @param search `''` or with its question mark.
 */
export function withoutAction(search: string): string {
  return search.replace(/[?&]_action=[^&]*/g, '').replace(/^&/, '?')
}
