/** The rules of the house that a machine can check. Each test lists the places that break its rule. */
import './tidy/imports.ts'
import './tidy/circles.ts'
import './tidy/comments.ts'
import './tidy/outside.ts'
import './tidy/leftovers.ts'
import './tidy/links.ts'
import './tidy/roots.ts'
