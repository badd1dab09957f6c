// Elysia looks at NODE_ENV once, when it is loaded: unless it says production, a refused value is printed whole,
// indented, and more than once. What the operator's environment says must not decide that.
process.env.NODE_ENV = 'production'
