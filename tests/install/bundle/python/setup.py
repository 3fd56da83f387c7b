"""Builds the flat folder of scripts/bundle, beside this file, into the module `bundled`."""

from glob import glob

from setuptools import Extension, setup

setup(
    name="bundled",
    version="0",
    py_modules=[],
    ext_modules=[
        Extension(
            "bundled",
            sources=["module.c", *sorted(glob("petal/*.c"))],
            include_dirs=["petal"],
            libraries=["m"],
            extra_compile_args=["-std=c11"],
        )
    ],
)
