//! Tests of the stack with a small TCP of their own.
