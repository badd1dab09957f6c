import { type Bundle, bundlePages } from './bundle.ts'

/** Bundles from source. In a compiled binary .tools/build.ts replaces this module by the finished bundle. */
export function loadBundle(): Promise<Bundle> {
  return bundlePages()
}
