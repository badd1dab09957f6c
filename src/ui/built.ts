import { type Bundle, bundlePages } from './bundle.ts'

/** From source: bundled when asked. In a compiled binary this module holds the bundle (see .tools/build.ts). */
export function loadBundle(): Promise<Bundle> {
  return bundlePages()
}
