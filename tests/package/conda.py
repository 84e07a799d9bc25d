#!/usr/bin/env python3
"""Renders the conda recipe as rattler-build does, for each platform: no package is asked for or built.

    conda.py    with `py-rattler-build` from PyPI; exits with 77 where that is not installed
"""
import pathlib
import sys

try:
    from rattler_build import PlatformConfig, RenderConfig, Stage0Recipe, VariantConfig
except ImportError:
    print("conda: skipped: no py-rattler-build", file=sys.stderr)
    sys.exit(77)

RECIPE = pathlib.Path(__file__).resolve().parents[2] / "samples/conda"
EXPECTED = {"linux-64": ["feedrate", "feedrate-cpu"], "linux-aarch64": ["feedrate", "feedrate-cpu"], "osx-arm64": []}


def main():
    recipe = Stage0Recipe.from_file(str(RECIPE / "recipe.yaml"))
    variants = VariantConfig.from_file(str(RECIPE / "variants.yaml"))
    for platform, expected in EXPECTED.items():
        config = PlatformConfig(target_platform=platform, build_platform="linux-64", host_platform=platform)
        outputs = [variant.recipe for variant in recipe.render(variants, RenderConfig(platform=config))]
        found = [output.package.name for output in outputs]
        if found != expected:
            raise SystemExit(f"conda: FAILED: {platform}: expected the packages {expected}, found {found}")
        for output in outputs:
            print(f"{platform}: {output.package.name} {output.package.version}; built with",
                  ", ".join(str(need) for need in output.requirements.build))
    print("conda: ok")


main()
