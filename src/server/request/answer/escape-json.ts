const JSON_UNSAFE = /[<>&\u2028\u2029]/
const JSON_UNSAFE_ALL = /[<>&\u2028\u2029]/g

/** JSON for use inside a script element: escapes every character that could end the element or a string. */
export function escapeJson(json: string): string {
  if (!JSON_UNSAFE.test(json)) return json
  return json.replace(JSON_UNSAFE_ALL, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
