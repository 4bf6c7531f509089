"""Second derivatives without the Hessian, and the matrices that stand for it."""
