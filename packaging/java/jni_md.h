/* jni_md.h - what jni.h needs to know about Windows on x86-64: a JDK has this file only for its own
 * platform. JNI's specification fixes the widths and the calling convention. */
#ifndef PETAL_JNI_MD_H
#define PETAL_JNI_MD_H

#define JNIEXPORT __declspec(dllexport)
#define JNIIMPORT __declspec(dllimport)
#define JNICALL __stdcall

typedef int jint;
typedef long long jlong;
typedef signed char jbyte;

#endif
