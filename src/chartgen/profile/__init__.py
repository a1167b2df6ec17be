"""The profile: what a user asks for, in names only."""

from chartgen.profile.load import LoadedProfile, load_profile
from chartgen.profile.types import Context, Profile

__all__ = ["Context", "LoadedProfile", "Profile", "load_profile"]
