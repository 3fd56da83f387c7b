"""Builds the module `bundled` from the folder that scripts/bundle created next to this file."""

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
