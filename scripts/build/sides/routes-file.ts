/** Files that contain the route table, or a part of it. */
const ROUTES_FILE = /(?:^|[\\/])routes\.tsx?$/

/** Whether this file may name server modules by dynamic import. */
export function statesRoutes(file: string): boolean {
  return ROUTES_FILE.test(file)
}
