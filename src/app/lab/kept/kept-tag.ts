/** The tag of the document of `/lab/kept/[key]`. */
export function keptTag(key: string): string {
  return `kept:${key}`
}
